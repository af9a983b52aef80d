// parse_json and its quick path: what is accepted, what is refused, and where the error points.
#include "harness/core/json_dom.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "harness/core/json_quick.h"

namespace qfs {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Error error_of(std::string_view text, JsonLimits limits = {}) {
  const Result<json> value = parse_json(text, "sweep.json", limits);
  if (value) return {ErrorKind::internal, "accepted: " + value->dump(), ""};
  return value.error();
}

std::string nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, BuildsObjectsArraysAndScalars) {
  const Result<json> value =
      parse_json(R"({"a": [1, -2, 2.5, true, null, "x"], "b": {"c": {}}, "d": []})", "t");
  ASSERT_TRUE(value.ok()) << value.error().to_string();
  EXPECT_EQ(*value, (json{{"a", {1, -2, 2.5, true, nullptr, "x"}},
                          {"b", {{"c", json::object()}}},
                          {"d", json::array()}}));
}

TEST(ParseJson, AcceptsAScalarAtTheTop) {
  EXPECT_EQ(*parse_json("\"text\"", "t"), json("text"));
  EXPECT_EQ(*parse_json(" 12 ", "t"), json(12));
}

TEST(ParseJson, KeepsTheWholeRangeOf64BitIntegers) {
  EXPECT_EQ(parse_json("-9223372036854775808", "t")->get<int64_t>(), INT64_MIN);
  EXPECT_EQ(parse_json("18446744073709551615", "t")->get<uint64_t>(), UINT64_MAX);
}

TEST(ParseJson, RefusesAnIntegerBeyond64Bits) {
  const Error above = error_of("{\"seed\":\n  18446744073709551616}");
  EXPECT_EQ(above.kind, ErrorKind::data);
  EXPECT_EQ(above.where, "sweep.json:2:3");
  EXPECT_THAT(above.message, HasSubstr("18446744073709551616"));
  EXPECT_EQ(error_of("[-9223372036854775809]").where, "sweep.json:1:2");
}

TEST(ParseJson, ReadsAnIntegerBeyond64BitsAsARealWhereThatIsAllowed) {
  const Result<json> value =
      parse_json("[1000000000000000019884624838656, 7]", "t", {.python_numbers = true});
  ASSERT_TRUE(value.ok()) << value.error().to_string();
  EXPECT_TRUE((*value)[0].is_number_float());
  EXPECT_EQ((*value)[0].get<double>(), 1e30);
  EXPECT_TRUE((*value)[1].is_number_integer());
}

TEST(ParseJson, ReadsTheNamesOfNumbersThatPythonWritesAsTextsWhereThatIsAllowed) {
  constexpr auto kText = R"({"a":[NaN,-Infinity],"b":Infinity,"NaN\\":"\"Infinity","c":1})";
  const Result<json> value = parse_json(kText, "t", {.python_numbers = true});
  ASSERT_TRUE(value.ok()) << value.error().to_string();
  EXPECT_EQ(value->dump(),
            R"({"NaN\\":"\"Infinity","a":["NaN","-Infinity"],"b":"Infinity","c":1})");
  EXPECT_FALSE(parse_json(kText, "t").ok());
  EXPECT_FALSE(parse_json("[Nan]", "t", {.python_numbers = true}).ok());
}

TEST(ParseJson, RefusesARealBeyondDouble) {
  EXPECT_THAT(error_of("[1e400]").message, HasSubstr("number overflow"));
}

TEST(ParseJson, PointsAtASyntaxErrorByLineAndColumn) {
  const Error error = error_of("{\n  \"name\": \"x\",\n  \"grid\": }\n");
  EXPECT_EQ(error.kind, ErrorKind::data);
  EXPECT_EQ(error.where, "sweep.json:3:11");
  EXPECT_THAT(error.message, HasSubstr("unexpected '}'"));
}

TEST(ParseJson, PointsAtTheEndOfTruncatedText) {
  EXPECT_EQ(error_of("{\"a\": [1, 2").where, "sweep.json:1:12");
  EXPECT_EQ(error_of("").where, "sweep.json:1:1");
}

TEST(ParseJson, CountsColumnsInCodePoints) {
  // é takes two bytes, 日 three: the stray bracket is the ninth character.
  EXPECT_EQ(error_of("{\"é日\": 1]").where, "sweep.json:1:9");
}

TEST(ParseJson, RefusesADuplicateKeyAndPointsAtTheSecond) {
  const Error error = error_of("{\"seed\": 1,\n \"see\\u0064\": 2}");
  EXPECT_EQ(error.kind, ErrorKind::data);
  EXPECT_EQ(error.where, "sweep.json:2:2");
  EXPECT_THAT(error.message, HasSubstr("'seed'"));
}

TEST(ParseJson, FindsTheStartOfADuplicateKeyWithQuotesInside) {
  EXPECT_EQ(error_of(R"({"a\"b\\": 1, "a\"b\\": 2})").where, "sweep.json:1:15");
}

TEST(ParseJson, AllowsOneKeyInDifferentObjects) {
  EXPECT_TRUE(parse_json(R"([{"a": 1}, {"a": {"a": 2}}])", "t").ok());
}

TEST(ParseJson, StopsAtTheDepthLimit) {
  EXPECT_TRUE(parse_json(nested(64), "t").ok());
  const Error error = error_of(nested(65));
  EXPECT_EQ(error.where, "sweep.json:1:65");
  EXPECT_THAT(error.message, HasSubstr("deeper than 64"));
  EXPECT_EQ(error_of(R"({"a": {"b": [1]}})", {.max_depth = 2}).where, "sweep.json:1:13");
}

TEST(ParseJson, SurvivesTwoMillionBrackets) {
  EXPECT_THAT(error_of(std::string(2'000'000, '[')).message, HasSubstr("deeper than 64"));
}

TEST(ParseJson, StopsAtTheByteLimit) {
  EXPECT_THAT(error_of("[1, 2, 3]", {.max_bytes = 8}).message, HasSubstr("9 bytes"));
  EXPECT_TRUE(parse_json("[1, 2, 3]", "t", {.max_bytes = 9}).ok());
}

TEST(ParseJson, RefusesIllFormedUtf8WithItsPlace) {
  const Error error = error_of("{\"a\":\n\"x\xC3(\"}");
  EXPECT_EQ(error.where, "sweep.json:2:3");
  EXPECT_THAT(error.message, HasSubstr("UTF-8"));
}

TEST(ParseJson, RefusesLoneSurrogateEscapes) {
  EXPECT_EQ(error_of(R"(["\ud800"])").kind, ErrorKind::data);
  EXPECT_EQ(error_of(R"(["\udc00x"])").kind, ErrorKind::data);
  EXPECT_EQ(*parse_json(R"(["\ud83d\ude00"])", "t"), json::array({"😀"}));
}

TEST(ParseJson, RefusesAZeroByteInsteadOfEndingThere) {
  EXPECT_EQ(error_of(std::string_view("{}\0garbage", 10)).where, "sweep.json:1:3");
  EXPECT_EQ(parse_json(R"(["\u0000"])", "t")->at(0).get<std::string>(), std::string(1, '\0'));
}

TEST(ParseJson, RefusesWhatIsNotJson) {
  for (const char* text : {"{'a': 1}", "[1,]", "{\"a\": 1,}", "NaN", "[Infinity]", "// x\n{}", "01",
                           "+1", "[1] [2]", "\"a\tb\"", "tru", "{\"a\" 1}", "{1: 2}"}) {
    EXPECT_EQ(error_of(text).kind, ErrorKind::data) << text;
  }
}

TEST(ParseJson, ReadsPastAByteOrderMark) {
  EXPECT_TRUE(parse_json("\xEF\xBB\xBF{}", "t").ok());
  EXPECT_EQ(error_of("\xEF\xBB\xBF{]").where, "sweep.json:1:2");
}

TEST(ParseJson, KeepsMessagesShortForLongTokens) {
  EXPECT_LT(error_of("[\"" + std::string(100'000, 'a')).message.size(), 300U);
}

TEST(QuickJson, ReadsOrdinaryRecords) {
  const std::string_view text =
      R"({"id": 7, "p": "caf\u00e9 \"日\" \/\n", "r": ["a", ""], "x": -2, "y": 2.5e-3, "z": [null, true]})";
  std::string scratch;
  const auto quick = quick_json(text, 64, scratch);
  ASSERT_TRUE(quick.has_value());
  EXPECT_EQ(*quick, json::parse(text));
  EXPECT_TRUE(quick->at("id").is_number_unsigned());
  EXPECT_TRUE(quick->at("y").is_number_float());
}

TEST(QuickJson, LeavesTheUnusualToTheCarefulReader) {
  std::string scratch;
  for (const char* text : {"", "{", "[1,]", "[01]", "[1.]", "[1e999]", R"({"a": 1, "a": 2})",
                           "[18446744073709551616]", R"(["\ud83d\ude00"])", R"(["\udc00"])",
                           "[[[[1]]]]", "[1] 2", "[\"a\nb\"]", "[NaN]", "[\"\x1F\"]"}) {
    EXPECT_FALSE(quick_json(text, 3, scratch).has_value()) << text;
  }
}

}  // namespace
}  // namespace qfs

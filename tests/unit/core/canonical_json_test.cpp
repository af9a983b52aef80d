// canonical_json and shortest_decimal: one text for one value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/core/json_dom.h"

namespace qfs {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string canonical(const json& value) {
  const Result<Json> text = canonical_json(value);
  return text ? text->text : "error: " + text.error().message;
}

TEST(CanonicalJson, SortsKeysAndDropsSpaces) {
  const json value = json::parse(R"({ "b" : [ 1 , 2 ], "a" : { "d" : true, "c" : "x" } })");
  EXPECT_EQ(canonical(value), R"({"a":{"c":"x","d":true},"b":[1,2]})");
}

TEST(CanonicalJson, EqualsPythonsSortedCompactForm) {
  // tests/conformance/core/reference_values.py, "canonical".
  const json value = {{"method", "lead"},
                      {"version", 1},
                      {"layers", json::array()},
                      {"seed", 0},
                      {"params", {{"max_words", 100}, {"ratio", 0.1}}},
                      {"dataset", std::string(64, 'd')},
                      {"query", "café 日本\n\"\\\x01\x7F"}};
  EXPECT_EQ(
      canonical(value),
      "{\"dataset\":\"" + std::string(64, 'd') +
          "\",\"layers\":[],\"method\":\"lead\",\"params\":{\"max_words\":100,\"ratio\":\"0.1\"},"
          "\"query\":\"café 日本\\n\\\"\\\\\\u0001\x7F\",\"seed\":0,\"version\":1}");
}

TEST(CanonicalJson, WritesIntegersOfBothSigns) {
  EXPECT_EQ(canonical({INT64_MIN, UINT64_MAX, 0}), "[-9223372036854775808,18446744073709551615,0]");
}

TEST(CanonicalJson, WritesRealsAsShortestDecimalStrings) {
  EXPECT_EQ(canonical({0.1, 1.0, 1e21, 2.5e-7, -3.25}),
            R"(["0.1","1","1000000000000000000000","0.00000025","-3.25"])");
}

TEST(CanonicalJson, DoesNotDistinguishMinusZero) {
  EXPECT_EQ(canonical({-0.0, 0.0}), R"(["0","0"])");
}

TEST(CanonicalJson, RefusesWhatIdentitiesNeverHold) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(canonical_json({{"a", nullptr}}).error().kind, ErrorKind::internal);
  EXPECT_THAT(canonical({{"a", {{"b", nullptr}}}}), HasSubstr("a null at '/a/b'"));
  EXPECT_THAT(canonical({1, nullptr}), HasSubstr("a null at '/1'"));
  EXPECT_THAT(canonical({{"é", 1}}), HasSubstr("printable ASCII"));
  EXPECT_THAT(canonical({{"a\n", 1}}), HasSubstr("printable ASCII"));
  EXPECT_THAT(canonical({{"", 1}}), HasSubstr("printable ASCII"));
  EXPECT_THAT(canonical({infinity}), HasSubstr("not finite"));
  EXPECT_THAT(canonical({std::nan("")}), HasSubstr("not finite"));
  EXPECT_THAT(canonical({"\xC3("}), HasSubstr("not UTF-8"));
  json deep = 1;
  for (int i = 0; i < 65; ++i) deep = json::array({deep});
  EXPECT_THAT(canonical(deep), HasSubstr("deeper than 64"));
}

TEST(ShortestDecimal, ReadsBackAtTheEndsOfTheRange) {
  for (const double value : {DBL_MAX, DBL_MIN, DBL_TRUE_MIN, DBL_EPSILON, 0.1 + 0.2, 1.0 / 3.0}) {
    const std::string text = shortest_decimal(-value);
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), -value) << text;
    EXPECT_EQ(text.find_first_of("eE"), text.npos) << text;
  }
  EXPECT_EQ(shortest_decimal(0.1 + 0.2), "0.30000000000000004");
}

}  // namespace
}  // namespace qfs

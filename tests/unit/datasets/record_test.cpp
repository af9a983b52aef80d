// A record of a user's file as an example: the field map, the shapes that are read, the errors.
#include "datasets/readers/record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace qfs::datasets {
namespace {

using nlohmann::json;
using Fields = std::map<std::string, std::string>;

Result<Example> decode(std::string_view text, const Fields& fields = {}) {
  Result<FieldMap> map = make_field_map(fields);
  if (!map) return map.error();
  return decode_record(json::parse(text), *map, 3, {"f.jsonl:3", ""});
}

Example example_of(std::string_view text, const Fields& fields = {}) {
  Result<Example> example = decode(text, fields);
  EXPECT_TRUE(example.ok()) << (example ? "" : example.error().to_string());
  return example ? *example : Example{};
}

Error error_of(std::string_view text, const Fields& fields = {}) {
  Result<Example> example = decode(text, fields);
  EXPECT_FALSE(example.ok());
  return example ? Error{} : example.error();
}

TEST(Record, DefaultNamesNeedNoMap) {
  Example example = example_of(R"({"document": "a\nb", "query": "q", "references": ["r", "s"]})");
  EXPECT_EQ(example.document, (std::vector<Segment>{{"a", ""}, {"b", ""}}));
  EXPECT_EQ(example.query, "q");
  EXPECT_EQ(example.references, (std::vector<std::string>{"r", "s"}));
  EXPECT_EQ(example.key, "3");
  EXPECT_EQ(example.group, "3");
  EXPECT_EQ(example.language, "en");
}

TEST(Record, FieldsAreNamedByKeyDottedPathOrPointer) {
  Example example = example_of(
      R"({"meta.title": "direct", "in": {"text": ["x"], "q/a": "why"}, "answers": [{"t": "r"}]})",
      {{"document", "in.text"},
       {"query", "/in/q~1a"},
       {"references", "answers.0.t"},
       {"group", "meta.title"}});
  EXPECT_EQ(example.document, (std::vector<Segment>{{"x", ""}}));
  EXPECT_EQ(example.query, "why");
  EXPECT_EQ(example.references, std::vector<std::string>{"r"});
  EXPECT_EQ(example.group, "direct");
}

TEST(Record, DocumentMayBeTurnsOrTexts) {
  Example turns = example_of(
      R"({"document": [{"speaker": "A", "text": "x"}, {"speaker": "B", "content": "y"}, "z"],
          "query": "", "references": "r"})");
  EXPECT_EQ(turns.document, (std::vector<Segment>{{"x", "A"}, {"y", "B"}, {"z", ""}}));
}

TEST(Record, ConstantsAndAbsentFieldsAreDeclared) {
  Example example =
      example_of(R"({"document": "d"})",
                 {{"query", "=Summarize the text."}, {"references", ""}, {"language", "=zh"}});
  EXPECT_EQ(example.query, "Summarize the text.");
  EXPECT_TRUE(example.references.empty());
  EXPECT_EQ(example.language, "zh");
}

TEST(Record, IdentifiersMayBeNumbersAndAreNormalised) {
  Example example = example_of(
      R"({"document": "d", "query": "", "references": [], "id": 17, "group": "cafe\u0301"})");
  EXPECT_EQ(example.key, "17");
  EXPECT_EQ(example.group, "caf\u00e9");
}

TEST(Record, EqualDocumentsWithoutAnIdAreOneCluster) {
  std::string a = example_of(R"({"document": "d", "query": "1", "references": []})").document_id;
  std::string b = example_of(R"({"document": "d", "query": "2", "references": []})").document_id;
  std::string c = example_of(R"({"document": "e", "query": "1", "references": []})").document_id;
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

TEST(RecordErrors, MissingFieldListsTheFieldsThereAndTheRemedy) {
  Error error = error_of(R"({"document": "d", "query": "q", "reference": "r"})");
  EXPECT_EQ(error.kind, ErrorKind::data);
  EXPECT_EQ(error.where, "f.jsonl:3");
  EXPECT_EQ(
      error.message,
      "missing field 'references' (did you mean 'reference'?); the fields there are: "
      "document, query, reference. Map it with \"fields\" (--field references=NAME), or, when "
      "the data have none, write \"references\": \"\" (--field references=)");
}

TEST(RecordErrors, MissingMappedFieldNamesBothSides) {
  Error error = error_of(R"({"context": "d"})", {{"document", "kontext"}});
  EXPECT_EQ(error.message.substr(0, 74),
            "missing field 'kontext' (did you mean 'context'?), mapped to document; the");
  EXPECT_EQ(error_of(R"({"document": "d", "query": "", "references": []})", {{"id", "uid"}}).where,
            "f.jsonl:3");
}

TEST(RecordErrors, WrongShapesAreNamedWithTheirPlace) {
  EXPECT_EQ(error_of(R"([1])").message, "a record must be an object, found a list");
  Error part = error_of(R"({"document": ["a", 1], "query": "", "references": []})");
  EXPECT_EQ(part.where, "f.jsonl:3#/document/1");
  Error reference = error_of(R"({"document": "d", "query": "", "references": ["a", {}]})");
  EXPECT_EQ(reference.where, "f.jsonl:3#/references/1");
  EXPECT_EQ(reference.message, "a reference must be text, found an object");
  EXPECT_EQ(error_of(R"({"document": 1, "query": "", "references": []})").where,
            "f.jsonl:3#/document");
  EXPECT_EQ(error_of(R"({"document": "", "query": [], "references": []})").message,
            "the query must be text, found a list");
}

TEST(RecordErrors, LanguageMustBeATag) {
  Error error = error_of(R"({"document": "", "query": "", "references": [], "language": "e n"})");
  EXPECT_EQ(error.message, "'e n' is not a language tag such as \"en\" or \"zh\"");
}

TEST(FieldMap, UnknownFieldSuggestsTheNearest) {
  Result<FieldMap> map = make_field_map({{"documents", "x"}});
  ASSERT_FALSE(map.ok());
  EXPECT_EQ(map.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(map.error().message,
            "unknown field 'documents' in a field map (did you mean 'document'?)");
  EXPECT_FALSE(make_field_map({{"document", ""}}).ok());
}

}  // namespace
}  // namespace qfs::datasets

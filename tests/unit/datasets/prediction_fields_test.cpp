// Which member of a record becomes which field of a prediction, also when two fields read one
// member.
#include "datasets/predictions/prediction_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "datasets/predictions/plain_prediction.h"
#include "datasets/predictions/prediction_lines.h"
#include "tests/support/temporary_folder.h"

namespace qfs::datasets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<PredictionRecord> decoded(const char* text,
                                 const std::map<std::string, std::string>& chosen) {
  nlohmann::json record = nlohmann::json::parse(text);
  return decode_prediction(record, *make_prediction_fields(chosen), 7, {"out.jsonl:7", ""});
}

TEST(DecodePrediction, TakesTextsAndListsOfTexts) {
  const auto record = decoded(R"({"prediction": "p", "references": ["a", "b"], "query": "q"})", {});
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(record->prediction, "p");
  EXPECT_THAT(*record->references, ElementsAre("a", "b"));
  EXPECT_EQ(record->query, "q");
  EXPECT_EQ(record->id, "7");
}

TEST(DecodePrediction, TwoFieldsMayReadOneMember) {
  const auto record = decoded(R"({"text": "a long text that is not kept in place", "doc": "d"})",
                              {{"prediction", "text"},
                               {"references", "text"},
                               {"query", "text"},
                               {"id", "doc"},
                               {"cluster", "doc"}});
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(record->prediction, "a long text that is not kept in place");
  EXPECT_THAT(*record->references, ElementsAre("a long text that is not kept in place"));
  EXPECT_EQ(record->query, "a long text that is not kept in place");
  EXPECT_EQ(record->id, "d");
  EXPECT_EQ(record->cluster, "d");
}

TEST(DecodePrediction, APathMayLeadIntoAnotherField) {
  const auto record = decoded(R"({"all": ["the first of the texts", "the second of the texts"]})",
                              {{"prediction", "/all/0"}, {"references", "all"}});
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(record->prediction, "the first of the texts");
  EXPECT_THAT(*record->references,
              ElementsAre("the first of the texts", "the second of the texts"));
}

TEST(DecodePrediction, AWrongTypeNamesItsPlace) {
  const auto record = decoded(R"({"prediction": "p", "references": ["a", 3]})", {});
  ASSERT_FALSE(record.ok());
  EXPECT_EQ(record.error().where, "out.jsonl:7#/references/1");
  EXPECT_THAT(record.error().message, HasSubstr("a reference must be text"));
}

TEST(DecodePrediction, AFieldThatTheUserNamedIsThereOrAnError) {
  const auto record = decoded(R"({"prediction": "p", "pid": "a"})", {{"id", "pidd"}});
  ASSERT_FALSE(record.ok());
  EXPECT_THAT(record.error().message,
              HasSubstr("missing field 'pidd' (did you mean 'pid'?); the fields there are: pid"));
  EXPECT_THAT(record.error().message, HasSubstr("--fields id="));
  EXPECT_EQ(decoded(R"({"prediction": "p", "pid": null})", {{"id", "pid"}})->id, "7");
  EXPECT_TRUE(decoded(R"({"prediction": "p"})", {{"id", ""}, {"query", "=why"}}).ok());
}

class PredictionLines : public testing::Test {
 protected:
  /// The ids of a file, or its error.
  std::string read(const std::string& lines, const std::map<std::string, std::string>& chosen) {
    std::string ids;
    const Status status =
        read_prediction_json_lines(folder_.write("p.jsonl", lines), *make_prediction_fields(chosen),
                                   [&](const PredictionRecord& record) -> Status {
                                     ids += record.id + " ";
                                     return {};
                                   });
    return status.ok() ? ids : status.error().to_string();
  }

  test::TemporaryFolder folder_;
};

TEST_F(PredictionLines, AllHaveIdsOrNoneHas) {
  EXPECT_EQ(read(R"({"prediction":"a"})"
                 "\n"
                 R"({"prediction":"b"})",
                 {}),
            "1 2 ");
  EXPECT_THAT(read(R"({"prediction":"a","id":"x"})"
                   "\n"
                   R"({"prediction":"b","Id":"y"})",
                   {}),
              HasSubstr("p.jsonl:2: this record has no id, and the one at"));
  EXPECT_THAT(read(R"({"prediction":"a"})"
                   "\n"
                   R"({"prediction":"b","id":"y"})",
                   {}),
              HasSubstr("p.jsonl:1: this record has no id"));
}

TEST_F(PredictionLines, APlainRecordWithoutANamedFieldIsAnError) {
  EXPECT_THAT(read(R"({"prediction":"a","pid":"x"})", {{"id", "pidd"}}),
              HasSubstr("missing field 'pidd' (did you mean 'pid'?)"));
  EXPECT_EQ(read(R"({"prediction":"a","pid":"x"})", {{"id", "pid"}}), "x ");
}

TEST(PlainPredictionReader, TakesOrdinaryRecordsAsTheCarefulReaderDoes) {
  const PredictionFields fields;
  PlainPredictionReader reader(fields);
  for (const char* line :
       {R"({"prediction": "p \u00e9", "references": ["a", "b"], "id": 12, "extra": [1, [2.5]]})",
        R"({"prediction": null, "references": "one", "document": ["d", "e"], "query": null})",
        R"({"group": "g", "cluster": 3, "language": "en", "prediction": "", "references": []})"}) {
    const auto plain = reader.read(line, 4, "f:4");
    ASSERT_TRUE(plain.has_value()) << line;
    nlohmann::json value = nlohmann::json::parse(line);
    EXPECT_EQ(*plain, *decode_prediction(value, fields, 4, {"f:4", ""})) << line;
  }
}

TEST(PlainPredictionReader, LeavesTheRestToTheCarefulReader) {
  PlainPredictionReader reader{PredictionFields()};
  for (const char* line :
       {R"({"references": ["a"]})", R"({"prediction": 3})",
        R"({"prediction": "p", "references": [1]})",
        R"({"prediction": "p", "references": "['a', 'b']"})", R"({"prediction": "p", "id": 1.5})",
        R"({"prediction": "p", "prediction": "q"})", R"({"prediction": "p", "x": {"y": 1}})",
        R"({"prediction": "p", "": 1})", R"({"prediction": "p", "x": 1, "x": 2})",
        R"({"prediction": "p", "x": 1e999})", R"(["prediction"])", R"({"prediction": "p"} x)"}) {
    EXPECT_FALSE(reader.read(line, 1, "f:1").has_value()) << line;
  }
  for (const char* name : {"=text", "a.b", "/prediction", "prediction"}) {
    PredictionFields fields;
    fields.query = name;
    EXPECT_FALSE(PlainPredictionReader(fields).read(R"({"prediction": "p"})", 1, "f:1")) << name;
  }
}

}  // namespace
}  // namespace qfs::datasets

// Claim files: what is decoded, and every mistake at its place.
#include "harness/claims/decode.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/files.h"
#include "tests/support/temporary_folder.h"

namespace qfs::claims {
namespace {

Labels labels() {
  const Result<Labels> decoded = decode_labels(
      R"({"demo": {"Lead-3": {"method": "lead", "max_words": 50}, "Tuned": {"method": "lora", "backbone": "big", "rank": 8}}})",
      "labels.json");
  EXPECT_TRUE(decoded.ok());
  return decoded.ok() ? *decoded : Labels{};
}

std::string paper(
    const std::string& rows,
    const std::string& column = R"({"name": "R-1", "metric": "rouge", "column": "rouge1.f"})") {
  return R"({"paper": "demo", "title": "A demo", "source": "nowhere", "errata": {"odd": "It is odd."},
    "tables": [{"id": "demo.table1", "title": "Results", "dataset": {"name": "set", "splits": ["test"]},
    "columns": [)" +
         column + "], \"rows\": [" + rows + "]}]}";
}

std::string failure(const std::string& text) {
  const Result<Paper> decoded = decode_paper(text, "demo.json", labels());
  return decoded.ok() ? "" : decoded.error().to_string();
}

TEST(Labels, HaveTheValuesOfTheLabelThatTheyAreLike) {
  const Result<Labels> decoded = decode_labels(
      R"({"demo": {"B": {"like": "C", "rank": 16}, "C": {"like": "D", "method": "ideal"},
                   "D": {"method": "lora", "backbone": "big", "rank": 8, "k": 2}}})",
      "labels.json");
  ASSERT_TRUE(decoded.ok()) << decoded.error().to_string();
  const MethodQuery& query = decoded->at("demo").at("B");
  EXPECT_EQ(query.method, "ideal");
  EXPECT_EQ(query.backbone, "big");
  ASSERT_EQ(query.params.size(), 2U);
  for (const NamedValue& param : query.params) {
    EXPECT_EQ(std::get<int64_t>(param.value), param.name == "rank" ? 16 : 2);
  }
  const auto refusal = [](const char* text) {
    return decode_labels(text, "labels.json").error().to_string();
  };
  EXPECT_NE(refusal(R"({"demo": {"B": {"like": "C"}}})").find("has no such label"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"demo": {"B": {"like": "C"}, "C": {"like": "B"}}})").find("in a circle"),
            std::string::npos);
}

TEST(Claims, TakeTheirMethodFromTheLabelAndTheRow) {
  const auto decoded = decode_paper(
      paper(
          R"({"label": "Tuned", "with": {"rank": 16, "local_context": 1000}, "recipe": {"local_context": 768},
              "printed": ["22.10"], "errata": ["odd"]})"),
      "demo.json", labels());
  ASSERT_TRUE(decoded.ok()) << decoded.error().to_string();
  const Claim& claim = decoded->tables.front().claims.front();
  EXPECT_EQ(claim.id(), "demo.table1/1/R-1");
  EXPECT_EQ(claim.given, "local_context=1000, rank=16");
  EXPECT_EQ(claim.scale, 100);
  EXPECT_EQ(claim.method->method, "lora");
  EXPECT_EQ(claim.method->backbone, "big");
  ASSERT_EQ(claim.method->params.size(), 2U);
  for (const NamedValue& param : claim.method->params) {
    EXPECT_EQ(std::get<int64_t>(param.value), param.name == "rank" ? 16 : 768);
  }
  EXPECT_EQ(claim.dataset->name, "set");
  EXPECT_EQ(claim.errata, std::vector<std::string>{"odd"});
}

TEST(Claims, HaveSharedValuesOfTheirTableAndMeanAnotherLabelWhereTheRowSaysSo) {
  std::string text = paper(
      R"({"label": "Tuned", "with": {"train_examples": 10}, "printed": ["1.0"]},
         {"label": "Tuned", "as": "Lead-3", "with": {"train_examples": 0}, "printed": ["2.0"]})");
  const std::string columns = "\"columns\"";
  text.replace(text.find(columns), columns.size(), R"("with": {"num_beams": 4}, "columns")");
  const auto decoded = decode_paper(text, "demo.json", labels());
  ASSERT_TRUE(decoded.ok()) << decoded.error().to_string();
  const std::vector<Claim>& claims = decoded->tables.front().claims;
  ASSERT_EQ(claims.size(), 2U);
  EXPECT_EQ(claims[0].method->method, "lora");
  EXPECT_EQ(claims[0].method->train_examples, 10);
  EXPECT_EQ(claims[0].given, "train_examples=10");
  EXPECT_EQ(claims[1].method->method, "lead");
  EXPECT_EQ(claims[1].label, "Tuned");
  EXPECT_EQ(claims[1].method->train_examples, 0);
  for (const Claim& claim : claims) {
    ASSERT_EQ(claim.method->shared.size(), 1U);
    EXPECT_EQ(claim.method->shared.front().name, "num_beams");
  }
}

TEST(Claims, TakeTextsOfFilesBesideThemAndOfFilesThatTheUserNames) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "words.txt", "the 5\n").ok());
  const auto decoded =
      decode_paper(paper(R"({"label": "Tuned", "with": {"dictionary": {"file": "words.txt"}},
                             "printed": ["1.0"]})"),
                   folder / "demo.json", labels());
  ASSERT_TRUE(decoded.ok()) << decoded.error().to_string();
  const MethodQuery& query = *decoded->tables.front().claims.front().method;
  const auto own = std::ranges::find(query.params, "dictionary", &NamedValue::name);
  ASSERT_NE(own, query.params.end());
  EXPECT_EQ(own->value, ParamValue("the 5\n"));
  const auto missing = decode_paper(
      paper(R"({"label": "Tuned", "with": {"x": {"file": "none.txt"}}, "printed": ["1.0"]})"),
      folder / "demo.json", labels());
  EXPECT_EQ(missing.error().where, (folder / "demo.json") + "#/tables/0/rows/0/with/x/file");

  const auto named = decode_labels(
      R"({"demo": {"A": {"method": "m", "files": {"spans": "their-spans"}}}})", "labels.json");
  ASSERT_TRUE(named.ok()) << named.error().to_string();
  EXPECT_EQ(named->at("demo").at("A").files.at("spans"), "their-spans");
  EXPECT_TRUE(named->at("demo").at("A").params.empty());
}

TEST(Claims, LeaveOutPlacesWithoutANumber) {
  const auto decoded = decode_paper(
      paper(R"({"label": "Lead-3", "printed": [null]}, {"label": "Tuned", "printed": ["1.0"]})"),
      "demo.json", labels());
  ASSERT_TRUE(decoded.ok()) << decoded.error().to_string();
  ASSERT_EQ(decoded->tables.front().claims.size(), 1U);
  EXPECT_EQ(decoded->tables.front().claims.front().row, 1U);
}

TEST(Claims, CountRecordsOfFilesAndTakeOtherStatisticsFromTheDataSet) {
  const char* const row =
      R"({"label": "Set", "files": {"folder": "theirs", "records": ["*.tsv"]}, "printed": ["3", "4", "5"]})";
  const auto decoded = decode_paper(
      paper(row, R"({"name": "all", "data": "examples"}, {"name": "turns", "data": "segments"},
                    {"name": "train", "data": "examples", "splits": ["train"]})"),
      "demo.json", labels());
  ASSERT_TRUE(decoded.ok()) << decoded.error().to_string();
  const std::vector<Claim>& claims = decoded->tables.front().claims;
  EXPECT_TRUE(claims[0].files.has_value());
  EXPECT_FALSE(claims[1].files.has_value());
  EXPECT_FALSE(claims[2].files.has_value());
}

TEST(Claims, TryLengthsOnACard) {
  const char* const column = R"({"name": "most", "longest": "training"})";
  const auto row = [](const std::string& lengths) {
    return paper(R"({"label": "Tuned", "printed": ["<1.6K"], "longest": )" + lengths + "}",
                 R"({"name": "most", "longest": "training"})");
  };
  const auto decoded = decode_paper(
      row(R"({"card": "A card, 24 GB", "of": "train_tokens", "tries": [800, 1600], "card_mib": 24576})"),
      "demo.json", labels());
  ASSERT_TRUE(decoded.ok()) << decoded.error().to_string();
  const Claim& claim = decoded->tables.front().claims.front();
  EXPECT_EQ(claim.kind, ClaimKind::longest);
  EXPECT_EQ(claim.given, "gpu=A card, 24 GB");
  EXPECT_EQ(claim.longest->parameter, "train_tokens");
  EXPECT_EQ(claim.longest->tries, (std::vector<int64_t>{800, 1600}));
  EXPECT_EQ(claim.longest->device_memory_mib, 24576);
  EXPECT_EQ(failure(row(R"({"card": "A", "of": "x", "tries": [800, 800], "card_mib": 1})")),
            "demo.json#/tables/0/rows/0/longest/tries: lengths are tried from the shortest");
  EXPECT_EQ(
      failure(row(R"({"card": "A", "of": "x", "tries": [8], "card_mib": 0})")),
      "demo.json#/tables/0/rows/0/longest/card_mib: expected an integer from 1 to 16777216, found "
      "0");
  EXPECT_EQ(failure(paper(R"({"label": "Tuned", "printed": ["<1.6K"]})", column)),
            "demo.json#/tables/0/rows/0: missing key 'longest', which the column 'most' needs");
  EXPECT_EQ(failure(paper(R"({"label": "Tuned", "printed": ["1.6"], "longest":
                        {"card": "A", "of": "x", "tries": [8], "card_mib": 1}})")),
            "demo.json#/tables/0/rows/0/longest: no column of the table is 'longest'");
  EXPECT_EQ(failure(paper(R"({"label": "Tuned", "printed": ["<1.6K"]})",
                          R"({"name": "most", "longest": "training", "scale": 2})")),
            "demo.json#/tables/0/columns/0: lengths that are tried have neither 'scale' nor "
            "'tolerance'");
  EXPECT_EQ(failure(paper(R"({"label": "Tuned", "printed": ["<1.6K"]})",
                          R"({"name": "most", "longest": "reading"})")),
            "demo.json#/tables/0/columns/0: what is longest is a 'training'");
}

TEST(Claims, SayWhatOutputsGoThrough) {
  const auto with_steps = [](const std::string& steps) {
    std::string text = paper(R"({"label": "Tuned", "printed": ["1.0"]})");
    const std::string columns = "\"columns\"";
    return text.replace(text.find(columns), columns.size(),
                        "\"postprocess\": " + steps + ", " + columns);
  };
  const auto decoded =
      decode_paper(with_steps(R"(["strip", "strip_special:texts=<pad>"])"), "demo.json", labels());
  ASSERT_TRUE(decoded.ok()) << decoded.error().to_string();
  EXPECT_EQ(decoded->tables.front().claims.front().postprocess.text,
            R"(["strip","strip_special:texts=<pad>"])");
  EXPECT_NE(failure(with_steps(R"(["strp"])")).find("demo.json#/tables/0/postprocess: "),
            std::string::npos);
  EXPECT_NE(failure(with_steps(R"(["strp"])")).find("did you mean 'strip'?"), std::string::npos);
}

TEST(Claims, SayWhereAMistakeIs) {
  EXPECT_EQ(
      failure(paper(R"({"label": "Lead-4", "printed": ["1.0"]})")),
      "demo.json#/tables/0/rows/0: labels.json does not say what 'Lead-4' of the paper 'demo' "
      "means (did you mean 'Lead-3'?)");
  EXPECT_EQ(
      failure(paper(R"({"label": "Lead-3", "printed": ["1.0", "2.0"]})")),
      "demo.json#/tables/0/rows/0/printed: 2 printed numbers for 1 columns; null stands for a "
      "place without");
  EXPECT_EQ(
      failure(paper(R"({"label": "Lead-3", "printed": [22.1]})")),
      "demo.json#/tables/0/rows/0/printed/0: expected a number as printed, in quotes, found a "
      "number with a fraction or exponent");
  EXPECT_EQ(failure(paper(R"({"label": "Lead-3", "printed": ["22.1."]})")),
            "demo.json#/tables/0/rows/0/printed/0: expected a number as printed, such as 22.17, "
            "31,664, 17M or <1K; found '22.1.'");
  EXPECT_EQ(failure(paper(R"({"label": "Lead-3", "printed": ["1.0"], "errata": ["od"]})")),
            "demo.json#/tables/0/rows/0/errata: there is no erratum 'od' (did you mean 'odd'?)");
  EXPECT_EQ(failure(paper(R"({"label": "Lead-3", "printd": ["1.0"]})")),
            "demo.json#/tables/0/rows/0/printd: unknown key 'printd' (did you mean 'printed'?)");
  EXPECT_EQ(
      failure(paper(R"({"label": "Lead-3", "printed": ["1.0"]})",
                    R"({"name": "x", "data": "documents", "stated": "no"})")),
      "demo.json#/tables/0/columns/0: a column has one of 'metric', 'data', 'count', 'longest' "
      "and 'stated'");
}

TEST(Claims, RefuseALabelWithoutAMethod) {
  const auto decoded = decode_labels(R"({"demo": {"Lead": {"backbone": "big"}}})", "labels.json");
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.error().to_string(), "labels.json#/demo/Lead: missing key 'method'");
}

}  // namespace
}  // namespace qfs::claims

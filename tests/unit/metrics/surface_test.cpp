// coverage, density, compression, novel-ngrams, repetition, length and query-coverage: definitions
// by hand, and what a missing document or query is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/catalog.h"
#include "metrics/surface/fragments.h"
#include "metrics/surface/query_terms.h"

namespace qfs::test {
namespace {

using namespace metrics;
using testing::ElementsAre;
using testing::HasSubstr;

Result<Statistics> row(std::string_view metric, const ScoreItem& item) {
  const auto made = BuiltinMetrics().make(metric);
  if (!made) return made.error();
  auto rows = (*made)->measure(std::span(&item, 1));
  if (!rows) return rows.error();
  return rows->front();
}

ScoreItem item(std::string candidate, std::optional<std::string> document,
               std::optional<std::string> query = std::nullopt) {
  ScoreItem item;
  item.id = 7;
  item.candidate = std::move(candidate);
  item.document = std::move(document);
  item.query = std::move(query);
  return item;
}

Statistics values(std::string_view metric, const ScoreItem& scored) {
  const Result<Statistics> found = row(metric, scored);
  EXPECT_TRUE(found.ok()) << found.error().to_string();
  return *found;
}

std::string failure(std::string_view metric, const ScoreItem& scored) {
  const Result<Statistics> found = row(metric, scored);
  EXPECT_FALSE(found.ok());
  return found.ok() ? "" : found.error().to_string();
}

TEST(Fragments, TheLongestMatchIsTakenAndTheFirstOfEqualOnes) {
  EXPECT_THAT(extractive_fragments({1, 2, 3}, {1, 2, 9, 1, 2, 3, 9, 1, 2, 3}),
              ElementsAre(Fragment{0, 3, 3}));
  EXPECT_THAT(extractive_fragments({5, 1}, {1}), ElementsAre(Fragment{1, 0, 1}));
}

TEST(Fragments, AMatchThatBeginsInsideAShorterOneIsNotSeen) {
  // 1 1 2 stands in the document from its second word on; the scan is past it after matching 1 1.
  EXPECT_THAT(extractive_fragments({1, 1, 2}, {1, 1, 1, 2}),
              ElementsAre(Fragment{0, 0, 2}, Fragment{2, 3, 1}));
}

TEST(Surface, NewsroomsThreeByHand) {
  // Words of the prediction: the cat sat on mars. Fragments: "the cat sat", "on".
  const ScoreItem scored = item("The cat sat on Mars", "the cat sat down on the moon . bye");
  EXPECT_THAT(values("coverage", scored), ElementsAre(4.0 / 5));
  EXPECT_THAT(values("density", scored), ElementsAre((9.0 + 1) / 5));
  EXPECT_THAT(values("compression", scored), ElementsAre(9.0 / 5));
  EXPECT_THAT(values("compression:punctuation=drop", scored), ElementsAre(8.0 / 5));
  EXPECT_THAT(values("coverage:case=keep", scored), ElementsAre(3.0 / 5));
}

TEST(Surface, ChineseIsCutIntoWords) {
  EXPECT_THAT(values("coverage:segmenter=char", item("会议结束", "会议开始")), ElementsAre(0.5));
  EXPECT_GT(values("compression", item("会议", "会议讨论了预算问题"))[0], 2);
}

TEST(Surface, NovelGramsCountDistinctOnesOrAll) {
  const ScoreItem scored = item("x x x a b", "a b c");
  EXPECT_THAT(values("novel-ngrams", scored), ElementsAre(1.0 / 3, 2.0 / 3, 1, 1));
  EXPECT_THAT(values("novel-ngrams:count=tokens", scored), ElementsAre(3.0 / 5, 3.0 / 4, 1, 1));
}

TEST(Surface, RepeatedGramsCountDistinctOnesOrAll) {
  const ScoreItem scored = item("a b a b a", std::nullopt);
  // 2-grams: ab ab ba ba; 3-grams: aba bab aba; 4-grams: abab baba.
  EXPECT_THAT(values("repetition", scored), ElementsAre(1, 1, 0.5, 0));
  EXPECT_THAT(values("repetition:count=tokens", scored), ElementsAre(3.0 / 5, 2.0 / 4, 1.0 / 3, 0));
}

TEST(Surface, ALabelIsRightOrNot) {
  const auto accuracy = [](std::string said, std::vector<std::string> references) {
    ScoreItem scored = item(std::move(said), std::nullopt);
    scored.references = std::move(references);
    return scored;
  };
  EXPECT_THAT(values("accuracy", accuracy("acceptable", {"acceptable"})), ElementsAre(1));
  EXPECT_THAT(values("accuracy", accuracy(" acceptable\n", {"no", "\u3000acceptable "})),
              ElementsAre(1));
  EXPECT_THAT(values("accuracy", accuracy("Acceptable", {"acceptable"})), ElementsAre(0));
  EXPECT_THAT(values("accuracy", accuracy("not acceptable", {"acceptable"})), ElementsAre(0));
  EXPECT_THAT(values("accuracy", accuracy("", {" "})), ElementsAre(1));
  EXPECT_THAT(failure("accuracy", accuracy("a", {})),
              HasSubstr("item 7: accuracy needs at least one reference"));
  EXPECT_THAT(failure("accuracy", accuracy("\xff", {"a"})), HasSubstr("candidate is not valid"));
  EXPECT_THAT(failure("accuracy", accuracy("a", {"\xff"})),
              HasSubstr("the reference 1 is not valid"));
}

TEST(Surface, AMissingDocumentOrQueryIsAnErrorThatNamesIt) {
  for (const char* name : {"coverage", "density", "compression", "novel-ngrams"}) {
    for (const auto& document : {std::optional<std::string>(), std::optional<std::string>("")}) {
      EXPECT_THAT(failure(name, item("a", document)),
                  HasSubstr("item 7: " + std::string(name) +
                            " needs the field 'document', which this item does not have"));
    }
    EXPECT_THAT(failure(name, item("a", " \n")), HasSubstr("'document', which has no word"));
    EXPECT_THAT(failure(name, item("a", "\xff")), HasSubstr("document is not valid UTF-8"));
  }
  EXPECT_THAT(failure("query-coverage", item("a", "a")), HasSubstr("needs the field 'query'"));
  EXPECT_THAT(failure("query-coverage", item("a", "a", "?!")), HasSubstr("'query', which has no"));
  EXPECT_THAT(failure("length", item("\xff", "a")), HasSubstr("candidate is not valid UTF-8"));
}

TEST(Surface, APredictionWithoutAWordCountsZeroAndIsSaidOrRefused) {
  for (const char* name : {"coverage", "density", "compression", "novel-ngrams", "repetition"}) {
    const ScoreItem empty = item(" ", "a b");
    EXPECT_THAT(values(name, empty), testing::Each(0.0)) << name;
    EXPECT_THAT(failure(std::string(name) + ":empty=error", empty), HasSubstr("has no word"));
    const auto metric = BuiltinMetrics().make(name);
    EXPECT_NE((*metric)->note(empty), "") << name;
    EXPECT_EQ((*metric)->note(item("a b c d", "a")), "") << name;
  }
}

TEST(Surface, LengthCountsWordsCodePointsAndSentences) {
  EXPECT_THAT(values("length", item("It rained. We left!\nWhy", "")), ElementsAre(5, 23, 3));
  EXPECT_THAT(values("length:punctuation=keep", item("It rained. We left!", "")),
              ElementsAre(6, 19, 2));
  EXPECT_THAT(values("length:segmenter=char", item("会议开始。讨论预算。", "")),
              ElementsAre(8, 10, 2));
  EXPECT_THAT(values("length", item("", "")), ElementsAre(0, 0, 0));
}

TEST(QueryTerms, FunctionWordsAreNoContentUnlessThereIsNothingElse) {
  EXPECT_THAT(content_terms({"what", "did", "marketing's", "team", "say"}, true),
              ElementsAre("market", "say", "team"));
  EXPECT_THAT(content_terms({"what", "is", "this"}, false), ElementsAre("is", "this", "what"));
  EXPECT_THAT(content_terms({"team\u2019s"}, false), ElementsAre("team"));
  EXPECT_THAT(content_terms({"会议", "讨论", "了", "什么"}, true), ElementsAre("会议", "讨论"));
}

TEST(Surface, QueryCoverageIsTheShareOfContentTerms) {
  const char* query = "What did the marketing team decide about budgets?";
  EXPECT_THAT(values("query-coverage", item("The Marketing budget was decided.", "", query)),
              ElementsAre(3.0 / 4));
  EXPECT_THAT(values("query-coverage:stem=off", item("Marketing budgets", "", query)),
              ElementsAre(2.0 / 4));
  EXPECT_THAT(values("query-coverage", item("", "", query)), ElementsAre(0));
}

TEST(Surface, OptionsThatChangeADigitAreInTheSignature) {
  const auto signature = [](std::string_view name) {
    return (*BuiltinMetrics().make(name))->signature();
  };
  EXPECT_EQ(signature("coverage:case=lower"), signature("coverage"));
  EXPECT_THAT(signature("coverage"), HasSubstr("|case:lower|punct:keep|empty:zero|"));
  EXPECT_THAT(signature("length"), HasSubstr("|seg:icu|case:lower|punct:drop|sent:icu|icu:"));
  EXPECT_THAT(signature("query-coverage:stem=off"), HasSubstr("|stop:qfs-en-zh-1|stem:none|"));
  EXPECT_NE(signature("repetition:count=tokens"), signature("repetition"));
  EXPECT_EQ((*BuiltinMetrics().make("repetition:count=tokens"))->name(), "repetition:count=tokens");
}

}  // namespace
}  // namespace qfs::test

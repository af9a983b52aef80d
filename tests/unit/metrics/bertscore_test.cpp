// Baselines, several references, empty texts and what is encoded how often.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/bertscore/baseline.h"
#include "metrics/bertscore/bert_scorer.h"

namespace qfs::metrics {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Letters are tokens with a vector each: a and b are near, others are at right angles.
class LetterEncoder final : public TextEncoder {
 public:
  explicit LetterEncoder(int& encoded) : encoded_(encoded) {}

  Result<std::vector<int32_t>> ids(std::string_view text) override {
    std::vector<int32_t> ids = {0};
    for (char c : text) ids.push_back(c);
    ids.push_back(1);
    return ids;
  }

  Result<TokenVectors> encode(std::string_view text) override {
    ++encoded_;
    if (text.find('!') != text.npos) return unavailable("no exclamations");
    TokenVectors result;
    result.ids = *ids(text);
    result.width = 30;
    result.truncated = text.size() > 5;
    result.vectors.resize(result.ids.size() * 30);
    for (size_t i = 0; i < result.ids.size(); ++i) {
      const int32_t id = result.ids[i];
      result.special.push_back(id <= 1);
      float* const row = result.vectors.data() + i * 30;
      row[id <= 1 ? 28 + id : id - 'a'] = 4;
      if (id == 'b') row[0] = 3;  // 0.6 of the way to a
    }
    return result;
  }

 private:
  int& encoded_;
};

ScoreItem item(std::string candidate, std::vector<std::string> references) {
  ScoreItem result;
  result.candidate = std::move(candidate);
  result.references = std::move(references);
  return result;
}

struct Scoring {
  explicit Scoring(const BertScoreOptions& options = {})
      : scorer(options, std::make_unique<LetterEncoder>(encoded)) {}
  int encoded = 0;
  BertScorer scorer;
};

TEST(BertScorer, MatchesEveryTokenWithItsMostSimilarOne) {
  Scoring run;
  const std::vector<ScoreItem> items = {item("ac", {"bcd"})};
  const auto rows = run.scorer.measure(items);
  ASSERT_TRUE(rows.ok());
  EXPECT_NEAR(rows->at(0)[0], (0.6 + 1) / 2, 1e-6);
  EXPECT_NEAR(rows->at(0)[1], (0.6 + 1 + 0) / 3, 1e-6);
}

TEST(BertScorer, SeveralReferencesGiveTheLargestOfEachValue) {
  Scoring run;
  const std::vector<ScoreItem> items = {item("ac", {"acde", "a"})};
  const auto rows = run.scorer.measure(items);
  EXPECT_NEAR(rows->at(0)[0], 1, 1e-6);        // against the first
  EXPECT_NEAR(rows->at(0)[1], 1, 1e-6);        // against the second
  EXPECT_NEAR(rows->at(0)[2], 2.0 / 3, 1e-6);  // 1 and 1/2, or 1/2 and 1
}

TEST(BertScorer, AnEmptyTextScoresZeroAndWhiteSpaceIsEmpty) {
  Scoring run;
  const std::vector<ScoreItem> items = {item(" \n", {"a"}), item("a", {""})};
  const auto rows = run.scorer.measure(items);
  EXPECT_THAT(rows->at(0), ElementsAre(0, 0, 0));
  EXPECT_THAT(rows->at(1), ElementsAre(0, 0, 0));
}

TEST(BertScorer, ATextThatComesAgainSoonIsEncodedOnce) {
  Scoring run;
  const std::vector<ScoreItem> items = {item("ab", {"cd", "ab"}), item(" ab", {"cd"})};
  ASSERT_TRUE(run.scorer.measure(items).ok());
  EXPECT_EQ(run.encoded, 2);
  std::vector<ScoreItem> many;
  for (char c = 'a'; c <= 'z'; ++c) many.push_back(item(std::string(2, c), {std::string(3, c)}));
  ASSERT_TRUE(run.scorer.measure(many).ok());
  ASSERT_TRUE(run.scorer.measure(items).ok());
  EXPECT_EQ(run.encoded, 2 + 52 + 2);
}

TEST(BertScorer, CountsTruncatedTextsAndNamesTheItemOfAnError) {
  Scoring run;
  const std::vector<ScoreItem> items = {item("abcdef", {"a"})};
  ASSERT_TRUE(run.scorer.measure(items).ok());
  EXPECT_EQ(run.scorer.truncated_texts(), 1);
  std::vector<ScoreItem> bad = {item("a", {"b"}), item("a", {"b!"})};
  bad[1].id = 1;
  const auto failed = run.scorer.measure(bad);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().where, "item 1");
  EXPECT_FALSE(run.scorer.measure(std::vector<ScoreItem>{item("a", {})}).ok());
}

TEST(BertScorer, WithIdfWordsOfEveryReferenceCountNothing) {
  Scoring run({.idf = true, .baseline = {}});
  const std::vector<ScoreItem> items = {item("ac", {"ab"}), item("a", {"ad"})};
  const auto rows = run.scorer.measure(items);
  ASSERT_TRUE(rows.ok());
  // a is in both references: log(3 / 3) = 0. c is unseen and matches nothing.
  EXPECT_NEAR(rows->at(0)[0], 0, 1e-6);
  EXPECT_EQ(rows->at(1)[0], 0);  // the candidate has no token with weight
}

TEST(Baseline, IsTheRowOfTheLayerAndRescalesEachValueByItsOwn) {
  const std::string file = "LAYER,P,R,F\n0,0.1,0.2,0.3\r\n6,0.5,0.6,0.75\n";
  const auto row = read_baseline(file, "b.tsv", 6);
  ASSERT_TRUE(row.ok());
  const BertScores scores = rescaled({0.75, 0.8, 1}, *row);
  EXPECT_DOUBLE_EQ(scores.precision, 0.5);
  EXPECT_DOUBLE_EQ(scores.recall, 0.5);
  EXPECT_DOUBLE_EQ(scores.f, 1);
  EXPECT_DOUBLE_EQ(read_baseline(file, "b.tsv", 0)->f, 0.3);
}

TEST(Baseline, AWrongFileNamesTheLine) {
  EXPECT_THAT(read_baseline("LAYER,P,R,F\n0,0.1,0.2,0.3\n", "b.tsv", 7).error().message,
              HasSubstr("layer 7"));
  EXPECT_EQ(read_baseline("P,R,F\n", "b.tsv", 0).error().where, "b.tsv:1");
  EXPECT_EQ(read_baseline("LAYER,P,R,F\n0,0.1,x,0.3\n", "b.tsv", 0).error().where, "b.tsv:2");
  EXPECT_EQ(read_baseline("LAYER,P,R,F\n0,0.1,0.2\n", "b.tsv", 0).error().where, "b.tsv:2");
  EXPECT_EQ(read_baseline("LAYER,P,R,F\n0,0.1,0.2,0.3,1\n", "b.tsv", 0).error().where, "b.tsv:2");
  EXPECT_FALSE(read_baseline("LAYER,P,R,F\n0,1,0.2,0.3\n", "b.tsv", 0).ok());
  EXPECT_FALSE(read_baseline("", "b.tsv", 0).ok());
}

}  // namespace
}  // namespace qfs::metrics

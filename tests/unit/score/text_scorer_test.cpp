// TextScorer: batches and threads change nothing, a corpus metric sees everything at once, errors
// name the item's place.
#include "harness/score/text_scorer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace qfs::score {
namespace {

/// Value: length of the candidate; with `corpus`, divided by the number of items of the call.
class LengthMetric final : public Metric {
 public:
  explicit LengthMetric(bool corpus) : corpus_(corpus) {}
  std::string_view name() const override { return "length"; }
  std::string_view doc() const override { return "for tests"; }
  std::vector<std::string> columns() const override { return {"length"}; }
  std::string signature() const override { return "length|v:1"; }
  MetricNeeds needs() const override { return {.references = false, .corpus = corpus_}; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override {
    std::vector<Statistics> rows;
    for (const ScoreItem& item : items) {
      if (item.candidate == "bad") {
        return data_error("a bad text", "item " + std::to_string(item.id));
      }
      const auto size = static_cast<double>(item.candidate.size());
      rows.push_back({corpus_ ? size / static_cast<double>(items.size()) : size});
    }
    return rows;
  }

 private:
  bool corpus_;
};

ScoreItem item(std::string candidate) {
  ScoreItem result;
  result.candidate = std::move(candidate);
  return result;
}

Result<std::vector<TextScore>> scored(bool corpus, TextScorerOptions options) {
  TextScorer scorer({std::make_shared<LengthMetric>(corpus)}, options);
  for (size_t i = 0; i < 1000; ++i) {
    if (Status status = scorer.add(item(std::string(i % 37, 'x')), "f:1"); !status) {
      return status.error();
    }
  }
  return scorer.finish();
}

TEST(TextScorer, BatchesAndThreadsChangeNothing) {
  const auto whole = scored(false, {});
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ((*whole)[0].statistics[36], Statistics{36});
  for (const TextScorerOptions& options :
       {TextScorerOptions{.batch_items = 7}, TextScorerOptions{.batch_bytes = 500},
        TextScorerOptions{.batch_items = 600, .threads = 5}}) {
    const auto parts = scored(false, options);
    ASSERT_TRUE(parts.ok());
    EXPECT_EQ((*parts)[0].statistics, (*whole)[0].statistics);
    EXPECT_EQ((*parts)[0].values[0].value, (*whole)[0].values[0].value);
  }
}

TEST(TextScorer, ACorpusMetricSeesAllItemsInOneCall) {
  const auto scores = scored(true, {.batch_items = 10, .threads = 4});
  ASSERT_TRUE(scores.ok());
  EXPECT_EQ((*scores)[0].statistics[36], Statistics{36.0 / 1000});
}

TEST(TextScorer, AnErrorNamesThePlaceOfItsItem) {
  TextScorer scorer({std::make_shared<LengthMetric>(false)}, {.batch_items = 2});
  ASSERT_TRUE(scorer.add(item("a"), "f:1").ok());
  ASSERT_TRUE(scorer.add(item("a"), "f:2").ok());
  ASSERT_TRUE(scorer.add(item("a"), "f:3").ok());
  const Status status = scorer.add(item("bad"), "f:4");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().where, "f:4");
  EXPECT_THAT(status.error().message, testing::HasSubstr("metric length: a bad text"));
}

TEST(TextScorer, AnErrorOfABatchMeasuredBesideReadingIsNotLost) {
  for (size_t bad : {size_t{0}, size_t{30}, size_t{99}}) {
    TextScorer scorer({std::make_shared<LengthMetric>(false)}, {.batch_items = 10, .threads = 2});
    Status status;
    for (size_t i = 0; i < 100 && status.ok(); ++i) {
      status = scorer.add(item(i == bad ? "bad" : "a"), "f:" + std::to_string(i));
    }
    if (status.ok()) {
      const auto scores = scorer.finish();
      ASSERT_FALSE(scores.ok());
      status = scores.error();
    }
    EXPECT_EQ(status.error().where, "f:" + std::to_string(bad));
  }
}

TEST(TextScorer, NothingToScoreIsAnError) {
  TextScorer scorer({std::make_shared<LengthMetric>(false)});
  EXPECT_FALSE(scorer.finish().ok());
}

}  // namespace
}  // namespace qfs::score

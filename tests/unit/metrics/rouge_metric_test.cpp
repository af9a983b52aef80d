// RougeMetric: its columns, signature and rows, and that bad items are errors that name themselves.
#include "metrics/rouge/rouge_metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace qfs::metrics {
namespace {

using testing::HasSubstr;

ScoreItem item(int64_t id, std::string candidate, std::vector<std::string> references) {
  ScoreItem result;
  result.id = id;
  result.candidate = std::move(candidate);
  result.references = std::move(references);
  return result;
}

TEST(RougeMetric, ColumnsAreVariantAndStatistic) {
  EXPECT_THAT(RougeMetric().columns(),
              testing::ElementsAre("rouge1.p", "rouge1.r", "rouge1.f", "rouge2.p", "rouge2.r",
                                   "rouge2.f", "rougeL.p", "rougeL.r", "rougeL.f", "rougeLsum.p",
                                   "rougeLsum.r", "rougeLsum.f"));
}

TEST(RougeMetric, SignatureNamesEveryOptionThatChangesADigit) {
  EXPECT_EQ(RougeMetric().signature(),
            "rouge|compat:rouge_score-0.1.2|tok:ascii|lc:unicode|stem:porter-nltk|split:newline|"
            "multi:max-f-per-metric|agg:mean|v:1");
  EXPECT_THAT(RougeMetric({.stem = false}).signature(), HasSubstr("|stem:none|"));
}

TEST(RougeMetric, MeasuresOneRowAnItemAndAggregatesByTheMean) {
  const RougeMetric metric;
  const std::vector<ScoreItem> items = {item(0, "a b c", {"a b c"}), item(1, "x", {"a", "b"})};
  const auto rows = metric.measure(items);
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[0], Statistics(12, 1.0));
  EXPECT_EQ((*rows)[1], Statistics(12, 0.0));
  const std::vector<Score> scores = metric.aggregate(*rows);
  ASSERT_EQ(scores.size(), 12U);
  EXPECT_EQ(scores[2].name, "rouge1.f");
  EXPECT_DOUBLE_EQ(scores[2].value, 0.5);
}

TEST(RougeMetric, StemmingOffTellsWordFormsApart) {
  const std::vector<ScoreItem> items = {item(0, "motoring", {"motored"})};
  EXPECT_EQ((*RougeMetric().measure(items))[0][2], 1.0);
  EXPECT_EQ((*RougeMetric({.stem = false}).measure(items))[0][2], 0.0);
}

TEST(RougeMetric, AnItemWithoutReferencesIsAnError) {
  const std::vector<ScoreItem> items = {item(0, "a", {"a"}), item(7, "a", {})};
  const auto rows = RougeMetric().measure(items);
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(rows.error().where, "item 7");
}

TEST(RougeMetric, IllFormedTextIsAnErrorThatNamesTheByte) {
  const std::vector<ScoreItem> candidate = {item(3, "ab\xFF", {"a"})};
  const auto first = RougeMetric().measure(candidate);
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(first.error().kind, ErrorKind::data);
  EXPECT_EQ(first.error().to_string(), "item 3: the candidate is not valid UTF-8 at byte 2");

  const std::vector<ScoreItem> reference = {item(4, "a", {"a", "\xC4"})};
  const auto second = RougeMetric().measure(reference);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().to_string(), "item 4: the reference 2 is not valid UTF-8 at byte 0");
}

}  // namespace
}  // namespace qfs::metrics

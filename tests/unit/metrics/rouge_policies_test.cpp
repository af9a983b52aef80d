// Options of rouge beyond stemming: policies for several references, aggregates, profiles. Numbers
// of single items are counted by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "metrics/catalog.h"
#include "metrics/rouge/multi_reference.h"

namespace qfs::metrics {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Metric> metric(std::string_view name) { return *BuiltinMetrics().make(name); }

std::vector<ScoreItem> item(std::string candidate, std::vector<std::string> references,
                            std::string group = "") {
  ScoreItem result;
  result.candidate = std::move(candidate);
  result.references = std::move(references);
  result.group = std::move(group);
  return {std::move(result)};
}

/// Best R-1 F is A (1), best R-L F is C (0.8), best R-1 recall is A, then C.
const std::vector<std::string> kReferences = {"f e d c b a", "a b c x y z u v", "a b c d"};

Statistics pooled_row(std::string_view name) {
  return (*metric(name)->measure(item("a b c d e f", kReferences)))[0];
}

constexpr size_t kR1F = 2;
constexpr size_t kRLP = 6;
constexpr size_t kRLR = 7;
constexpr size_t kRLF = 8;

TEST(MultiPolicy, MaxTakesTheBestReferencePerVariant) {
  EXPECT_EQ(pooled_row("rouge")[kR1F], 1.0);
  EXPECT_EQ(pooled_row("rouge")[kRLF], 2 * (4.0 / 6) * 1.0 / (4.0 / 6 + 1.0));
}

TEST(MultiPolicy, BestPairTakesAllVariantsFromOneReference) {
  EXPECT_EQ(pooled_row("rouge:multi=best:rougeL.f")[kR1F],
            pooled_row("rouge:multi=best:rougeL.f")[kRLF]);
  EXPECT_EQ(pooled_row("rouge:multi=best:rouge1.f")[kRLP], 1.0 / 6);
}

TEST(MultiPolicy, FirstMeanAndBestRecall) {
  EXPECT_EQ(pooled_row("rouge:multi=first")[kRLF], 1.0 / 6);
  EXPECT_DOUBLE_EQ(pooled_row("rouge:multi=mean")[kRLR], (1.0 / 6 + 3.0 / 8 + 1.0) / 3);
  EXPECT_EQ(pooled_row("rouge:multi=best-recall")[kRLR], 1.0);
}

TEST(MultiPolicy, PooledSumsHitsAndTotals) {
  // R-1 hits 6 + 3 + 4, of 3 x 6 candidate and 6 + 8 + 4 reference tokens; R-L hits 1 + 3 + 4.
  const Statistics pooled = pooled_row("rouge:multi=pooled");
  EXPECT_EQ(pooled[0], 13.0 / 18);
  EXPECT_EQ(pooled[1], 13.0 / 18);
  EXPECT_EQ(pooled[kRLP], 8.0 / 18);
  EXPECT_EQ(pooled[3], 5.0 / 15);  // 0 + 2 + 3 of 3 x 5, and of 5 + 7 + 3
  const auto one = item("a b", {"a c"});
  EXPECT_EQ(*metric("rouge:multi=pooled")->measure(one), *metric("rouge")->measure(one));
  const auto empty = item("", {"", ""});
  EXPECT_EQ((*metric("rouge:multi=pooled")->measure(empty))[0], Statistics(12, 0.0));
}

/// rouge-1.5.5 is byte-equal with the script, whose `-f A` pools; its L is Lsum here.
TEST(MultiPolicy, PooledIsWhatRouge155DoesToFiveDigits) {
  const auto items =
      item("the cat sat here\na dog ran far away",
           {"a cat sat\nthe dog ran", "dogs and cats sat here", "far away\nhere it sat"});
  const auto script = metric("rouge-1.5.5:stem=off");
  const std::vector<std::string> names = script->columns();
  const Statistics expected = (*script->measure(items))[0];
  const Statistics pooled = (*metric("rouge:multi=pooled,stem=off")->measure(items))[0];
  size_t compared = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    for (size_t c = 0; c < 12; ++c) {
      const std::string ours = rouge_column(c);
      if (names[i] != (ours.starts_with("rougeLsum") ? "rougeL" + ours.substr(9) : ours) ||
          ours.starts_with("rougeL.")) {
        continue;
      }
      EXPECT_NEAR(expected[i], pooled[c], 1.1e-5) << ours;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 9U);
}

TEST(MultiPolicy, JackKnifeAveragesTheBestOfAllSetsWithoutOne) {
  // Without A and without B the best R-L F is C's; without C it is B's.
  const double c = 2 * (4.0 / 6) * 1.0 / (4.0 / 6 + 1.0);
  const double b = 2 * (3.0 / 6) * (3.0 / 8) / (3.0 / 6 + 3.0 / 8);
  EXPECT_DOUBLE_EQ(pooled_row("rouge:multi=jack-knife")[kRLF], (c + c + b) / 3);
  const auto one = item("a b", {"a c"});
  EXPECT_EQ(*metric("rouge:multi=jack-knife")->measure(one), *metric("rouge")->measure(one));
}

TEST(MultiPolicy, TheFirstReferenceWinsTies) {
  const auto tie = item("a b", {"a c d", "d b c"});  // R-1 equal; only P and R can tell
  for (const char* name : {"rouge", "rouge:multi=best:rouge1.f", "rouge:multi=best-recall"}) {
    EXPECT_EQ((*metric(name)->measure(tie))[0], (*metric("rouge:multi=first")->measure(tie))[0]);
  }
}

TEST(MultiPolicy, IsPartOfNameAndSignature) {
  EXPECT_EQ(metric("rouge:multi=max")->signature(), metric("rouge")->signature());
  EXPECT_EQ(metric("rouge:multi=best:rougeL.f,stem=off")->name(),
            "rouge:stem=off,multi=best:rougeL.f");
  EXPECT_THAT(metric("rouge:multi=best:rougeL.f")->signature(),
              HasSubstr("|multi:best-pair(rougeL.f)|agg:mean|"));
  std::set<std::string> signatures;
  for (const char* name : {"max", "best:rougeL.f", "best:rouge1.f", "mean", "first", "best-recall",
                           "pooled", "jack-knife"}) {
    signatures.insert(metric(std::string("rouge:multi=") + name)->signature());
  }
  EXPECT_EQ(signatures.size(), 8U);
}

TEST(MultiPolicy, WrongNamesSuggestTheNearest) {
  EXPECT_THAT(BuiltinMetrics().make("rouge:multi=meen").error().message,
              HasSubstr("did you mean 'mean'?"));
  EXPECT_THAT(BuiltinMetrics().make("rouge:multi=best:rougel.f").error().message,
              HasSubstr("did you mean 'rougeL.f'?"));
}

TEST(Aggregates, BootstrapMedianIsSeededAndNearTheMean) {
  std::vector<Statistics> rows;
  for (int i = 0; i < 200; ++i) rows.emplace_back(12, (i * 37 % 200) / 200.0);
  const auto squality = metric("squality:split=newline");
  const double median = squality->aggregate(rows)[kR1F].value;
  EXPECT_EQ(median, squality->aggregate(rows)[kR1F].value);
  EXPECT_NEAR(median, 0.4975, 0.005);  // the mean; the median of 1000 means is close to it
  EXPECT_NE(median, metric("rouge")->aggregate(rows)[kR1F].value);
  EXPECT_THAT(squality->signature(), HasSubstr("agg:boot-median(n:1000,unit:item,seed:12345"));
}

TEST(Aggregates, GeometricMeanIsOfTheCorpusValues) {
  const auto scrolls = metric("scrolls");
  ASSERT_EQ(scrolls->columns().back(), "geometric_mean.f");
  std::vector<Statistics> rows = {Statistics(13, 0.5), Statistics(13, 0.5)};
  rows[0][2] = 0.1;  // rouge1.f: mean 0.3
  EXPECT_DOUBLE_EQ(scrolls->aggregate(rows).back().value, std::cbrt(0.3 * 0.5 * 0.5));
}

TEST(Profiles, CovidetDoesNotStem) {
  EXPECT_THAT(metric("covidet")->signature(), HasSubstr("stem:none"));
  EXPECT_THAT(metric("covidet")->signature(), HasSubstr("agg:boot-median"));
  EXPECT_THAT(metric("covidet:agg=mean")->signature(), HasSubstr("agg:mean"));
}

TEST(Ideal, DeletesSpecialTextsInOrderAndCountsGroupsOnce) {
  std::vector<ScoreItem> items = item("<s>a b c</s><pad><pad>", {"a b c"}, "q1");
  items.push_back(item("x", {"y"}, "q1")[0]);
  items.push_back(item("<<pad>s>x", {"z"}, "q2")[0]);  // leaves "<s>x", then "x"
  const auto ideal = metric("ideal:split=newline");
  EXPECT_TRUE(ideal->needs().corpus);
  const auto rows = *ideal->measure(items);
  EXPECT_EQ(rows[0], Statistics(13, 1.0));
  EXPECT_EQ(rows[1], Statistics(13, 0.0));
  EXPECT_EQ(rows[2].back(), 1.0);
  const std::vector<Score> values = ideal->aggregate(rows);
  EXPECT_DOUBLE_EQ(values[kR1F].value, 0.5);  // over two groups, not three rows
  EXPECT_DOUBLE_EQ(values.back().value, 2.0 / 3);
  EXPECT_EQ((*metric("ideal:strip=off,split=newline")->measure(item("<s>", {"s"})))[0][kR1F], 1.0);
}

}  // namespace
}  // namespace qfs::metrics

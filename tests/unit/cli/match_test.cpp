// score --match: digits, what is tried, what a match is worth, and how it is shown.
#include "harness/score/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/api/metric_columns.h"
#include "harness/cli/analysis_text.h"
#include "harness/score/rouge_tries.h"
#include "metrics/catalog.h"

namespace qfs::cli {
namespace {

using score::MatchReport;
using score::MatchTry;
using testing::HasSubstr;

std::vector<ScoreItem> items() {
  const char* const texts[][3] = {
      {"all day\nthe cats were running home", "a cat ran home", "the cat was running\nall day"},
      {"dogs and cats", "the dogs barked at cats", "cats and a dog"},
      {"one two three four", "four three two one", "one three two five"},
      {"it ended. well", "all is well that ended", "it is the end"}};
  std::vector<ScoreItem> items;
  for (const auto& text : texts) {
    ScoreItem item;
    item.id = static_cast<int64_t>(items.size());
    item.group = std::to_string(items.size());
    item.candidate = text[0];
    item.references = {text[1], text[2]};
    items.push_back(std::move(item));
  }
  return items;
}

std::string printed(const std::string& name, const std::string& column, int decimals) {
  const auto metric = *metrics::BuiltinMetrics().make(name);
  const auto texts = items();
  for (const Score& score : metric->aggregate(*metric->measure(texts))) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", decimals,
                  score.value * (is_share(score.name) ? 100 : 1));
    if (score.name == column) return text;
  }
  return "";
}

MatchReport match(const std::string& targets) {
  const auto texts = items();
  auto family = score::parse_match_targets(targets)->front();
  const bool rouge = family.front().family == score::MatchFamily::rouge;
  return *score::match_published(texts, std::move(family), metrics::BuiltinMetrics(),
                                 rouge ? *score::rouge_tries(texts, 2) : score::MatchTries(), 2);
}

std::vector<std::string> names(const MatchReport& report) {
  std::vector<std::string> found;
  for (size_t i : report.matching()) found.push_back(report.tries[i].metric);
  return found;
}

TEST(Match, FindsTheOptionsThatMadeTheDigits) {
  const std::string name = "rouge:stem=off,multi=pooled";
  const MatchReport report =
      match("rouge1=" + printed(name, "rouge1.f", 3) + ",rouge2=" + printed(name, "rouge2.f", 3) +
            ",rougeL=" + printed(name, "rougeL.f", 3));
  EXPECT_THAT(names(report), testing::Contains(name));
  EXPECT_THAT(names(report), testing::Not(testing::Contains("rouge")));
  EXPECT_THAT(names(report), testing::Not(testing::Contains("rouge:stem=off")));
  EXPECT_GT(report.tries.size(), 60U);
  EXPECT_EQ(report.most_references, 2U);
}

TEST(Match, TriesRecallAndPrecisionWhereTheTableDoesNotSay) {
  const MatchReport report = match("rouge1=" + printed("rouge", "rouge1.r", 4));
  bool found = false;
  for (size_t i : report.matching()) {
    found |= report.tries[i].metric == "rouge" && report.tries[i].reading == "recall";
  }
  EXPECT_TRUE(found);
  const MatchReport named = match("rouge1.r=" + printed("rouge", "rouge1.r", 4));
  EXPECT_THAT(names(named), testing::Contains("rouge"));
  for (const MatchTry& way : named.tries) EXPECT_EQ(way.reading, "");
}

TEST(Match, FindsOptionsOfBleuAndChrf) {
  const std::string bleu = "bleu:tokenize=char,smooth=add-k,lowercase=on";
  EXPECT_THAT(names(match("bleu=" + printed(bleu, "bleu", 3))), testing::Contains(bleu));
  const std::string chrf = "chrf:word_order=2,beta=1,whitespace=on";
  const MatchReport report = match("chrf=" + printed(chrf, "chrf", 3));
  EXPECT_THAT(names(report), testing::Contains(chrf));
  EXPECT_TRUE(report.not_tried.empty());
}

TEST(Match, SaysWhyNothingCouldBeTried) {
  const MatchReport report = match("bertscore=88.1");
  EXPECT_TRUE(report.tries.empty());
  const std::string text = match_text({&report, 1});
  EXPECT_THAT(text, HasSubstr("0 of 0 ways"));
  EXPECT_THAT(text, HasSubstr("not tried: bertscore and 3 more"));
}

TEST(Match, ReadsSummaryLevelRougeLUnderItsOtherName) {
  const MatchReport report = match("rougeL=" + printed("rouge", "rougeLsum.f", 4));
  bool found = false;
  for (size_t i : report.matching()) {
    found |= report.tries[i].metric == "rouge" && !report.tries[i].reading.empty();
  }
  EXPECT_TRUE(found);
  EXPECT_NE(printed("rouge", "rougeLsum.f", 4), printed("rouge", "rougeL.f", 4));
}

TEST(Match, EveryRougeVariantIsTheMetricOfItsName) {
  const MatchReport report = match("rouge1=10.00,rouge2=10.00,rougeL=10.00,rougeLsum=10.00");
  const auto texts = items();
  size_t compared = 0;
  for (const MatchTry& way : report.tries) {
    if (!way.metric.starts_with("rouge") || !way.reading.empty()) continue;
    const auto metric = metrics::BuiltinMetrics().make(way.metric);
    ASSERT_TRUE(metric.ok()) << way.metric;
    const auto scores = (*metric)->aggregate(*(*metric)->measure(texts));
    for (size_t t = 0; t < report.targets.size(); ++t) {
      const auto found = std::ranges::find(scores, report.targets[t].column, &Score::name);
      ASSERT_NE(found, scores.end());
      EXPECT_EQ(way.values[t], found->value) << way.metric << " " << found->name;
    }
    ++compared;
  }
  EXPECT_GE(compared, 40U);
}

TEST(Match, ChanceGrowsWithFewerDigits) {
  const auto expected = [](const std::string& targets) {
    return match(targets).expected_by_chance();
  };
  const auto coarse = expected("rouge1=40");
  const auto fine = expected("rouge1=40.00");
  EXPECT_GT(coarse.first, fine.first);
  EXPECT_EQ(fine.first, fine.second) << "one column has nothing to vary with";
  const auto two = expected("rouge1=40.00,rouge2=10.00");
  EXPECT_LT(two.first, two.second);
}

TEST(Match, ShowsTheNearestWhenNothingMatches) {
  const MatchReport report = match("rouge1=99.99");
  EXPECT_TRUE(report.matching().empty());
  EXPECT_THAT(match_text({&report, 1}), HasSubstr("the nearest:"));
  EXPECT_THAT(match_text({&report, 1}), HasSubstr("expected matches by chance: at most "));
  EXPECT_EQ(report.nearest(3).size(), 3U);
  for (const auto& [name, reason] : report.not_tried) {
    EXPECT_FALSE(reason.empty()) << name;
    EXPECT_THAT(reason, testing::Not(HasSubstr(name))) << "equal reasons are shown once";
  }
}

}  // namespace
}  // namespace qfs::cli

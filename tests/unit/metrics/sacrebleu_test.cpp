// bleu and chrf: tokenizers by hand, what the corpus value is made of, options and messages. Digits
// are in the conformance test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/api/corpus_metric.h"
#include "metrics/catalog.h"
#include "metrics/sacrebleu/bleu_tokenizers.h"
#include "metrics/stats/corpus_differences.h"

namespace qfs::test {
namespace {

using namespace metrics;
using testing::ElementsAre;
using testing::HasSubstr;

ScoreItem item(std::string candidate, std::vector<std::string> references) {
  ScoreItem item;
  item.candidate = std::move(candidate);
  item.references = std::move(references);
  return item;
}

std::shared_ptr<const Metric> metric(std::string_view name) {
  auto made = BuiltinMetrics().make(name);
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().to_string());
  return *made;
}

double corpus(std::string_view name, const std::vector<ScoreItem>& items) {
  const auto made = metric(name);
  const auto rows = made->measure(items);
  EXPECT_TRUE(rows.ok());
  return made->aggregate(*rows)[0].value;
}

std::vector<std::string> tokens_of(BleuTokenizer tokenizer, std::string_view text) {
  std::string storage;
  const auto tokens = bleu_tokens(tokenizer, text, storage);
  return {tokens.begin(), tokens.end()};
}

TEST(BleuTokens, Of13a) {
  EXPECT_THAT(tokens_of(BleuTokenizer::t13a, "It's 3.5, or 1,000-2; (yes)."),
              ElementsAre("It's", "3.5", ",", "or", "1,000", "-", "2", ";", "(", "yes", ")", "."));
  EXPECT_THAT(tokens_of(BleuTokenizer::t13a, "é,é.é 5-é\u2003.\xff \u3000"),
              ElementsAre("é", ",", "é", ".", "é", "5", "-", "é", ".", "\uFFFD"));
  EXPECT_THAT(tokens_of(BleuTokenizer::t13a, "hy-\nphen &quot;a&quot;<skipped>\n"),
              ElementsAre("hyphen", "\"", "a", "\""));
}

TEST(BleuTokens, OfZhTakeArrowsForChineseAsSacrebleuDoes) {
  EXPECT_THAT(tokens_of(BleuTokenizer::zh, "会议GDP增5.2%a→b𠀀𠀁"),
              ElementsAre("会", "议", "GDP", "增", "5.2", "%", "a", "→", "b𠀀𠀁"));
}

TEST(BleuTokens, OfTheOthers) {
  EXPECT_THAT(tokens_of(BleuTokenizer::character, "a b\u3000会"), ElementsAre("a", "b", "会"));
  EXPECT_THAT(tokens_of(BleuTokenizer::none, " a. b "), ElementsAre("a.", "b"));
  EXPECT_THAT(tokens_of(BleuTokenizer::intl, "«Sí», 3.5€ 1999."),
              ElementsAre("«", "Sí", "»", ",", "3.5", "€", "1999."));
}

TEST(Bleu, TheCorpusValueIsOfSummedCountsAndNotAMean) {
  const std::vector<ScoreItem> items = {item("a b c d e", {"a b c d e"}),
                                        item("x y z v w", {"q r s t u"})};
  EXPECT_NEAR(corpus("bleu:tokenize=none", items), 50, 1e-12);  // every precision is a half
  EXPECT_EQ(corpus("bleu:tokenize=none", {items[1]}), 0);
  EXPECT_EQ(corpus("chrf", {items[0]}), 100);
}

TEST(Bleu, ReferencesClipAtTheLargestCountAndTheClosestLengthCounts) {
  const auto rows =
      metric("bleu:tokenize=none")->measure(std::vector{item("a a a b", {"a a x", "a a a y z"})});
  ASSERT_TRUE(rows.ok());
  // Lengths 3 and 5 are as near to 4: the shorter one.
  EXPECT_THAT((*rows)[0], ElementsAre(testing::_, 4, 3, 3, 2, 1, 0, 4, 3, 2, 1));
}

TEST(Chrf, TheBestReferenceGivesTheCounts) {
  const auto rows =
      metric("chrf:char_order=1")->measure(std::vector{item("ab c", {"xyz", "abd", "ab c"})});
  ASSERT_TRUE(rows.ok());
  EXPECT_THAT((*rows)[0], ElementsAre(100, 3, 3, 3));
}

TEST(Sacrebleu, OptionsAreInBothSignatures) {
  const auto tool = [](std::string_view name, size_t fewest, size_t most) {
    const auto made = metric(name);
    return dynamic_cast<const CorpusMetric&>(*made).tool_signature(fewest, most);
  };
  EXPECT_EQ(tool("bleu", 1, 1), "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
  EXPECT_EQ(tool("bleu:smooth=floor,lowercase=on", 1, 3),
            "BLEU|nrefs:var|case:lc|eff:no|tok:13a|smooth:floor[0.10]|version:2.6.0");
  EXPECT_EQ(tool("chrf++", 2, 2),
            "chrF2++|nrefs:2|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.6.0");
  EXPECT_EQ(metric("bleu:smooth=exp")->signature(), metric("bleu")->signature());
  EXPECT_THAT(metric("bleu:smooth=add-k,smooth_value=0.125")->signature(),
              HasSubstr("smooth:add-k[0.125]"));
  EXPECT_THAT(metric("chrf:beta=3")->signature(), HasSubstr("|beta:3|"));
}

TEST(Sacrebleu, WrongSmoothingValuesAreErrors) {
  for (const char* name :
       {"bleu:smooth_value=1", "bleu:smooth=floor,smooth_value=x",
        "bleu:smooth=add-k,smooth_value=-1", "bleu:smooth=floor,smooth_value=inf"}) {
    const auto made = BuiltinMetrics().make(name);
    ASSERT_FALSE(made.ok()) << name;
    EXPECT_THAT(made.error().message, HasSubstr("smooth_value"));
  }
}

TEST(Sacrebleu, ChineseUnderAWesternTokenizerIsSaid) {
  const ScoreItem chinese = item("今天的会议讨论了预算问题", {"今天的会议讨论了预算问题"});
  EXPECT_THAT(std::string(metric("bleu")->note(chinese)), HasSubstr("tokenize=zh"));
  EXPECT_EQ(metric("bleu:tokenize=zh")->note(chinese), "");
  EXPECT_EQ(metric("chrf")->note(chinese), "");
}

std::vector<ScoreItem> two_kinds(bool better) {
  std::vector<ScoreItem> items;
  for (int i = 0; i < 24; ++i) {
    const std::string word = "w" + std::to_string(i);
    items.push_back(
        item(i % 3 == 0 && !better ? "x " + word + " q" : "the " + word + " sat down now",
             {"the " + word + " sat down now"}));
  }
  return items;
}

TEST(CorpusDifferences, IntervalsAndTestsAreOfTheCorpusValue) {
  const auto bleu = metric("bleu:tokenize=none");
  const std::vector<Statistics> a = *bleu->measure(two_kinds(true));
  const std::vector<Statistics> b = *bleu->measure(two_kinds(false));
  std::vector<std::string> clusters;
  for (int i = 0; i < 24; ++i) clusters.push_back(std::to_string(i));
  const MeansTransform values = values_of(*bleu);

  const auto differences = bootstrap_corpus_differences(a, b, clusters, values, {.resamples = 500});
  ASSERT_TRUE(differences.ok());
  const double expected = bleu->aggregate(a)[0].value - bleu->aggregate(b)[0].value;
  EXPECT_NEAR((*differences)[0].difference, expected, 1e-9);
  const Interval& interval = (*differences)[0].interval;
  ASSERT_TRUE(interval.available());
  EXPECT_TRUE(interval.low > 0 || interval.high < 0) << interval.low << " to " << interval.high;
  const auto p = randomization_corpus_p(a, b, clusters, values, {.trials = 2000});
  ASSERT_TRUE(p.ok());
  EXPECT_LT((*p)[0], 0.05);
  EXPECT_EQ((*randomization_corpus_p(a, a, clusters, values, {.trials = 100}))[0], 1);
}

std::vector<std::string> one_each(size_t count) {
  std::vector<std::string> clusters;
  for (size_t i = 0; i < count; ++i) clusters.push_back(std::to_string(i));
  return clusters;
}

TEST(CorpusMargin, IsShownOfTheWorseSystemOnlyAndUpToWhatItLacks) {
  const auto bleu = metric("bleu:tokenize=none");
  const std::vector<Statistics> better = *bleu->measure(two_kinds(true));
  const std::vector<Statistics> worse = *bleu->measure(two_kinds(false));
  const std::vector<std::string> clusters = one_each(24);
  const MeansTransform values = values_of(*bleu);
  const double drop = bleu->aggregate(better)[0].value - bleu->aggregate(worse)[0].value;
  ASSERT_GT(drop, 1);
  const auto p = [&](const auto& a, const auto& b, double margin) {
    return bootstrap_corpus_margin(a, b, clusters, values, 0, margin)->p_below;
  };
  EXPECT_LT(p(worse, better, 0), 0.01);
  EXPECT_LT(p(worse, better, 0.2 * drop), 0.05);
  EXPECT_GT(p(worse, better, drop), 0.3);  // half of the resamples show less
  EXPECT_GT(p(worse, better, 3 * drop), 0.99);
  EXPECT_GT(p(better, worse, 0), 0.99);  // the other direction
  const auto p_less = [&](double margin) {
    return bootstrap_corpus_margin(worse, better, clusters, values, 0, margin)->p_above;
  };
  EXPECT_GT(p_less(0), 0.99) << "that it is less than no drop at all";
  EXPECT_LT(p_less(3 * drop), 0.05);
  EXPECT_EQ(p(better, better, 0), 1);  // a tie is no drop
  const auto interval = bootstrap_corpus_differences(worse, better, clusters, values);
  const auto bounds =
      bootstrap_corpus_margin(worse, better, clusters, values, 0, 0, {.level = 0.975});
  EXPECT_EQ(bounds->high, (*interval)[0].interval.high) << "the same resamples";
  EXPECT_NEAR(bounds->low, (*interval)[0].interval.low, 1e-12);
  // Four standard errors are nearly the width of a 95 % interval.
  EXPECT_NEAR(4 * bounds->standard_error, bounds->high - bounds->low, 0.2 * drop);
}

// A mean has a test of its own by exchange; with many items both nearly agree with the normal
// distribution's: differences of mean -0.5 and standard deviation 1 over 100 items, margin 0.3, are
// two standard errors away, p = 0.023.
TEST(CorpusMargin, OfAMeanIsNearItsOtherTests) {
  std::vector<Statistics> a;
  std::vector<Statistics> b;
  std::vector<Statistics> shifted;
  for (int i = 0; i < 100; ++i) {
    const double noise = i % 2 == 0 ? 1 : -1;
    a.push_back({noise - 0.5});
    b.push_back({0});
    shifted.push_back({noise - 0.5 + 0.3});
  }
  const MeansTransform means = [](std::span<double>, double) {};
  const double p = bootstrap_corpus_margin(a, b, one_each(100), means, 0, 0.3)->p_below;
  const double exchange = (*randomization_p(shifted, one_each(100), Alternative::less))[0];
  EXPECT_NEAR(p, 0.023, 0.01);
  EXPECT_NEAR(p, exchange, 0.015);
}

TEST(CorpusMargin, RefusesWhatItCannotTest) {
  const std::vector<Statistics> rows(9, Statistics{1});
  const MeansTransform means = [](std::span<double>, double) {};
  const auto message = [&](const std::vector<Statistics>& a, size_t column, double margin) {
    return bootstrap_corpus_margin(a, a, one_each(a.size()), means, column, margin).error().message;
  };
  const std::vector<Statistics> enough(10, Statistics{1});
  EXPECT_THAT(message(rows, 0, 0), HasSubstr("at least 10 clusters, there are 9"));
  EXPECT_THAT(message(enough, 1, 0), HasSubstr("no such column"));
  EXPECT_THAT(message(enough, 0, -1), HasSubstr("at least 0"));
}

TEST(CorpusDifferences, ForMeansTheyAreThoseOfMeans) {
  const std::vector<Statistics> a = {{1, 5}, {2, 1}, {4, 0}, {0, 2}};
  const std::vector<Statistics> b = {{0, 5}, {1, 3}, {4, 1}, {1, 0}};
  const std::vector<std::string> clusters = {"d1", "d2", "d2", "d3"};
  const MeansTransform means = [](std::span<double>, double) {};
  std::vector<Statistics> differences = a;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t c = 0; c < 2; ++c) differences[i][c] -= b[i][c];
  }
  EXPECT_EQ(*randomization_corpus_p(a, b, clusters, means),
            *randomization_p(differences, clusters, Alternative::different));
  EXPECT_FALSE(randomization_corpus_p(a, std::span(b).first(3), clusters, means).ok());
}

}  // namespace
}  // namespace qfs::test

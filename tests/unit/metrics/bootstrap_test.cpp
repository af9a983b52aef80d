// Cluster bootstrap: quantiles, joint resampling, width, pairing, and what it refuses.
#include "metrics/stats/bootstrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/core/rng.h"
#include "metrics/stats/row_sums.h"

namespace qfs::metrics {
namespace {

using testing::HasSubstr;

struct Sample {
  std::vector<Statistics> items;
  std::vector<std::string> clusters;
};

/// `per_cluster` items in each of `clusters` clusters: a value of the cluster plus one of the item,
/// both uniform with the given half widths around 0.5.
Sample make_sample(size_t clusters, size_t per_cluster, double between, double within) {
  Sample sample;
  Rng rng(99);
  for (size_t c = 0; c < clusters; ++c) {
    const double centre = 0.5 + between * (2 * rng.uniform() - 1);
    for (size_t i = 0; i < per_cluster; ++i) {
      sample.items.push_back({centre + within * (2 * rng.uniform() - 1)});
      sample.clusters.push_back("document-" + std::to_string(c));
    }
  }
  return sample;
}

Interval interval_of(const Sample& sample, BootstrapOptions options = {}) {
  const auto intervals = bootstrap_means(sample.items, sample.clusters, options);
  EXPECT_TRUE(intervals.ok());
  return intervals->at(0);
}

TEST(RowSums, AddEachColumnInTheOrderOfTheDraws) {
  Rng rng(5);
  for (size_t columns = 1; columns <= 35; ++columns) {
    ClusterSums data;
    data.columns = columns;
    for (size_t row = 0; row < 20; ++row) {
      data.sizes.push_back(static_cast<double>(1 + rng.below(4)));
      for (size_t c = 0; c < columns; ++c) data.sums.push_back(rng.uniform());
    }
    std::vector<uint32_t> drawn;
    for (int i = 0; i < 50; ++i) drawn.push_back(static_cast<uint32_t>(rng.below(20)));
    const RowSums rows(data);
    ASSERT_EQ(rows.columns(), columns + 1);
    std::vector<double> sums(rows.columns(), -1);
    rows.sum(drawn, sums);
    for (size_t c = 0; c <= columns; ++c) {
      double expected = 0;
      for (uint32_t row : drawn) {
        expected += c == columns ? data.sizes[row] : data.sums[row * columns + c];
      }
      EXPECT_EQ(sums[c], expected) << "column " << c << " of " << columns;
    }
  }
}

TEST(LinearQuantile, InterpolatesAsNumpyDoes) {
  const std::vector<double> sorted = {1, 2, 4, 8};
  // numpy.percentile([1, 2, 4, 8], [0, 25, 50, 97.5, 100]) = 1, 1.75, 3, 7.7, 8
  EXPECT_DOUBLE_EQ(linear_quantile(sorted, 0), 1);
  EXPECT_DOUBLE_EQ(linear_quantile(sorted, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(linear_quantile(sorted, 0.5), 3);
  EXPECT_DOUBLE_EQ(linear_quantile(sorted, 0.975), 7.7);
  EXPECT_DOUBLE_EQ(linear_quantile(sorted, 1), 8);
}

TEST(Bootstrap, IntervalHasTheWidthOfNormalTheoryForIndependentItems) {
  const Sample sample = make_sample(400, 1, 0.3, 0);
  // A uniform variable of half width h has standard deviation h / sqrt(3).
  const double half_width = 1.96 * 0.3 / std::sqrt(3.0) / std::sqrt(400.0);
  const Interval interval = interval_of(sample);
  EXPECT_NEAR((interval.high - interval.low) / 2, half_width, 0.06 * half_width);
  EXPECT_LT(interval.low, 0.5);
  EXPECT_GT(interval.high, 0.5);
}

TEST(Bootstrap, ItemsOfOneDocumentAreDrawnTogether) {
  Sample sample = make_sample(30, 20, 0.3, 0.01);
  const Interval by_document = interval_of(sample);
  for (size_t i = 0; i < sample.clusters.size(); ++i) sample.clusters[i] = std::to_string(i);
  const Interval as_if_independent = interval_of(sample);
  // Twenty near copies a document: treating them as independent divides the width by about
  // sqrt(20).
  const double ratio =
      (by_document.high - by_document.low) / (as_if_independent.high - as_if_independent.low);
  EXPECT_NEAR(ratio, std::sqrt(20.0), 0.15 * std::sqrt(20.0));
}

TEST(Bootstrap, LargeDocumentsWeighByTheirItems) {
  // One document with 91 items of value 1 and nine with one item of value 0: a resample's mean is
  // 91 k / (91 k + 10 - k) for k draws of the large one, never k / 10.
  Sample sample;
  for (int i = 0; i < 91; ++i) sample.items.push_back({1}), sample.clusters.push_back("large");
  for (int i = 0; i < 9; ++i) {
    sample.items.push_back({0}), sample.clusters.push_back("small" + std::to_string(i));
  }
  const Interval interval = interval_of(sample, {.resamples = 2000});
  EXPECT_EQ(interval.low, 0);
  EXPECT_GT(interval.high, 0.9);
}

TEST(Bootstrap, FewerThanTenDocumentsGiveNoInterval) {
  const Interval nine = interval_of(make_sample(9, 5, 0.3, 0.1));
  EXPECT_FALSE(nine.available());
  EXPECT_EQ(nine.clusters, 9);
  EXPECT_EQ(unavailable_interval_text(nine.clusters), "n/a (9 of 10 clusters)");
  EXPECT_TRUE(interval_of(make_sample(10, 5, 0.3, 0.1)).available());
}

// Seven items a document, so that sums in another order would round otherwise.
TEST(Bootstrap, DoesNotDependOnTheOrderOfItems) {
  Sample sample = make_sample(25, 7, 0.3, 0.1);
  const Interval straight = interval_of(sample);
  std::ranges::reverse(sample.items);
  std::ranges::reverse(sample.clusters);
  EXPECT_EQ(interval_of(sample), straight);
  for (size_t i = 1; i < sample.items.size(); ++i) {
    std::swap(sample.items[i], sample.items[i * 31 % i]);
    std::swap(sample.clusters[i], sample.clusters[i * 31 % i]);
  }
  EXPECT_EQ(interval_of(sample), straight);
}

// SHA-256 by Python's hashlib: "a" ca97…, "b" 3e23…, "c" 2e7d….
TEST(ClusterSums, AreInTheOrderOfTheDigestsOfTheirNames) {
  const std::vector<Statistics> items = {{1}, {2}, {3}, {10}};
  const std::vector<std::string> clusters = {"a", "b", "c", "a"};
  const auto sums = sum_by_cluster(items, clusters);
  ASSERT_TRUE(sums.ok());
  EXPECT_EQ(sums->sums, (std::vector<double>{3, 2, 11}));
  EXPECT_EQ(sums->sizes, (std::vector<double>{1, 1, 2}));
}

TEST(Bootstrap, ColumnsSeeTheSameResamples) {
  Sample sample = make_sample(40, 2, 0.3, 0.1);
  for (Statistics& row : sample.items) row.push_back(2 * row[0]);
  const auto intervals = bootstrap_means(sample.items, sample.clusters);
  ASSERT_TRUE(intervals.ok());
  EXPECT_DOUBLE_EQ((*intervals)[1].low, 2 * (*intervals)[0].low);
  EXPECT_DOUBLE_EQ((*intervals)[1].high, 2 * (*intervals)[0].high);
}

TEST(Bootstrap, SeedDecidesTheDraw) {
  const Sample sample = make_sample(40, 2, 0.3, 0.1);
  EXPECT_EQ(interval_of(sample, {.seed = 1}), interval_of(sample, {.seed = 1}));
  EXPECT_NE(interval_of(sample, {.seed = 1}), interval_of(sample, {.seed = 2}));
}

TEST(Bootstrap, WiderLevelsGiveWiderIntervals) {
  const Sample sample = make_sample(40, 2, 0.3, 0.1);
  const Interval narrow = interval_of(sample, {.level = 0.8});
  const Interval wide = interval_of(sample, {.level = 0.99});
  EXPECT_LT(wide.low, narrow.low);
  EXPECT_GT(wide.high, narrow.high);
}

TEST(PairedBootstrap, SeesASmallConstantGainThatSeparateIntervalsHide) {
  const Sample a = make_sample(40, 3, 0.3, 0.1);
  std::vector<Statistics> b = a.items;
  for (Statistics& row : b) row[0] -= 0.01;
  const auto differences = bootstrap_differences(a.items, b, a.clusters);
  ASSERT_TRUE(differences.ok());
  EXPECT_NEAR((*differences)[0].difference, 0.01, 1e-12);
  EXPECT_NEAR((*differences)[0].interval.low, 0.01, 1e-12);
  ASSERT_TRUE((*differences)[0].interval.available());
  const Interval own = interval_of(a);
  EXPECT_GT(own.high - own.low, 0.05);
}

TEST(PairedBootstrap, ASystemDoesNotDifferFromItself) {
  const Sample a = make_sample(40, 3, 0.3, 0.1);
  const auto differences = bootstrap_differences(a.items, a.items, a.clusters);
  ASSERT_TRUE(differences.ok());
  EXPECT_EQ((*differences)[0].difference, 0);
  EXPECT_EQ((*differences)[0].interval.low, 0);
  EXPECT_EQ((*differences)[0].interval.high, 0);
}

TEST(PairedBootstrap, OfNineClustersThereIsNoInterval) {
  const Sample a = make_sample(9, 1, 0.3, 0.1);
  std::vector<Statistics> b = a.items;
  for (Statistics& row : b) row[0] -= 1;
  EXPECT_FALSE((*bootstrap_differences(a.items, b, a.clusters))[0].interval.available());
}

TEST(Bootstrap, RefusesWhatItCannotResample) {
  const auto message = [](const Sample& sample, BootstrapOptions options = {}) {
    const auto result = bootstrap_means(sample.items, sample.clusters, options);
    return result.ok() ? std::string("ok") : result.error().message;
  };
  const Sample good = make_sample(12, 1, 0.3, 0);
  Sample bad = good;
  bad.clusters.pop_back();
  EXPECT_THAT(message(bad), HasSubstr("12 items, 11 clusters"));
  bad = good;
  bad.items[3].push_back(1);
  EXPECT_THAT(message(bad), HasSubstr("row 3 has 2 values, the first one has 1"));
  bad = good;
  bad.items[5][0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(message(bad), HasSubstr("row 5 holds a value that is not finite"));
  EXPECT_THAT(message({}), HasSubstr("at least one item"));
  EXPECT_THAT(message(good, {.resamples = 0}), HasSubstr("at least 1"));
  EXPECT_THAT(message(good, {.level = 1}), HasSubstr("between 0 and 1"));
  const auto unequal = bootstrap_differences(good.items, {}, good.clusters);
  ASSERT_FALSE(unequal.ok());
  EXPECT_THAT(unequal.error().message, HasSubstr("same items on both sides"));
}

TEST(Bootstrap, SignatureNamesItsOptions) {
  EXPECT_EQ(bootstrap_signature({}),
            "bootstrap|method:percentile|unit:cluster|order:sha256|rng:xoshiro256ss|n:10000|"
            "seed:12345|level:0.95|v:2");
}

}  // namespace
}  // namespace qfs::metrics

// Standard errors of clustered means, and how many clusters would show a difference.
#include "metrics/stats/power.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

namespace qfs::metrics {
namespace {

// Standard deviation of -1 1 -1 1 … with n - 1: sqrt(n / (n - 1)).
TEST(StandardError, OfSingleItemsIsTheUsualOne) {
  std::vector<Statistics> items;
  std::vector<std::string> clusters;
  for (int i = 0; i < 100; ++i) {
    items.push_back({i % 2 == 0 ? 1.0 : -1.0});
    clusters.push_back(std::to_string(i));
  }
  EXPECT_NEAR(*cluster_standard_error(items, clusters), std::sqrt(100.0 / 99) / 10, 1e-12);
}

// Four copies of an item say as much as one.
TEST(StandardError, CopiesInAClusterAddNothing) {
  std::vector<Statistics> items;
  std::vector<std::string> clusters;
  for (int i = 0; i < 100; ++i) {
    items.push_back({i / 4 % 2 == 0 ? 1.0 : -1.0});
    clusters.push_back(std::to_string(i / 4));
  }
  EXPECT_NEAR(*cluster_standard_error(items, clusters), std::sqrt(25.0 / 24) / 5, 0.01);
  EXPECT_EQ(*cluster_standard_error(std::vector<Statistics>{{1}}, std::vector<std::string>{"a"}),
            0);
}

// Textbook: (1.645 + 0.842)^2 = 6.18 variances over the squared gap; the standard error is 1 for
// one cluster.
TEST(ClustersToShow, FollowsTheUsualFormula) {
  EXPECT_EQ(clusters_to_show(1, 1, 1, 0.05), 7);
  EXPECT_EQ(clusters_to_show(20, 0.01, 0.01, 0.05), 124);
  EXPECT_EQ(clusters_to_show(20, 0.01, 1, 0.05), 21) << "at least one more";
  EXPECT_GT(clusters_to_show(20, 0.01, 0.01, 0.01), 124);
}

// Chi-square quantiles of tables (R: qchisq(c(0.025, 0.975), df)): 4: 0.4844, 11.1433;
// 9: 2.7004, 19.0228; 99: 73.3611, 128.4220; 10,000: 9724.72, 10279.07.
TEST(StandardErrorBounds, AreThoseOfTheChiSquareInterval) {
  for (const auto& [clusters, low, high] :
       {std::tuple{5, 0.4844, 11.1433}, std::tuple{10, 2.7004, 19.0228},
        std::tuple{100, 73.3611, 128.4220}, std::tuple{10001, 9724.72, 10279.07}}) {
    const ErrorBounds bounds = standard_error_bounds(clusters, 2);
    EXPECT_NEAR(bounds.low, 2 * std::sqrt((clusters - 1) / high), 1e-4) << clusters;
    EXPECT_NEAR(bounds.high, 2 * std::sqrt((clusters - 1) / low), 2e-4) << clusters;
  }
  EXPECT_GT(standard_error_bounds(2, 1).high, 30) << "two documents know next to nothing";
  EXPECT_NEAR(standard_error_bounds(1000000, 1).high, 1, 0.002);
}

// Power of the one-sided t test at 5 %, noncentral t (R: power.t.test(n, delta, sd = 1, type =
// "one.sample", alternative = "one.sided")): n 10, delta 1: 0.8975; n 30, delta 0.5: 0.8482.
TEST(PowerToShow, IsThatOfTheTTest) {
  EXPECT_NEAR(power_to_show(10, 1 / std::sqrt(10.0), 1, 0.05), 0.8975, 0.005);
  EXPECT_NEAR(power_to_show(30, 1 / std::sqrt(30.0), 0.5, 0.05), 0.8482, 0.005);
  EXPECT_NEAR(power_to_show(30, 1, 0, 0.05), 0.05, 1e-9) << "no gap: the level";
  EXPECT_EQ(power_to_show(1, 1, 1, 0.05), 0);
  EXPECT_EQ(power_to_show(2, 1, 100, 0.001), 0) << "two clusters show nothing at such a level";
}

TEST(GapToShow, HasThePower) {
  const double gap = *gap_to_show(12, 0.01, 0.05);
  EXPECT_NEAR(power_to_show(12, 0.01, gap, 0.05), kPower, 1e-9);
  EXPECT_FALSE(gap_to_show(2, 1, 0.001).has_value());
}

}  // namespace
}  // namespace qfs::metrics

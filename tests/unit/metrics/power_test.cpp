// Standard errors of clustered means, and how many clusters would show a difference.
#include "metrics/stats/power.h"

#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace qfs::metrics

#include "metrics/stats/randomization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace qfs::metrics {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> one_each(size_t count) {
  std::vector<std::string> clusters;
  for (size_t i = 0; i < count; ++i) clusters.push_back("d" + std::to_string(i));
  return clusters;
}

std::vector<Statistics> column(const std::vector<double>& values) {
  std::vector<Statistics> rows;
  for (double value : values) rows.push_back({value});
  return rows;
}

double p_of(const std::vector<double>& differences, Alternative alternative) {
  const auto p = randomization_p(column(differences), one_each(differences.size()), alternative);
  return p.ok() ? p->at(0) : -1;
}

// With three clusters there are eight assignments of signs; all-plus and all-minus are as extreme.
TEST(Randomization, IsExactForFewClusters) {
  EXPECT_DOUBLE_EQ(p_of({1, 1, 1}, Alternative::different), 2.0 / 8);
  EXPECT_DOUBLE_EQ(p_of({-1, -1, -1}, Alternative::less), 1.0 / 8);
  EXPECT_DOUBLE_EQ(p_of({1, 1, 1}, Alternative::less), 1.0);
  // Sums of ±1 ±2 ±4: only ±7 reach 7; 3 = 4 + 1 - 2 is reached by |3|, |5| and |7|.
  EXPECT_DOUBLE_EQ(p_of({1, 2, 4}, Alternative::different), 2.0 / 8);
  EXPECT_DOUBLE_EQ(p_of({1, -2, 4}, Alternative::different), 6.0 / 8);
}

TEST(Randomization, EqualSystemsGetOne) {
  EXPECT_DOUBLE_EQ(p_of({0, 0, 0, 0}, Alternative::different), 1.0);
  EXPECT_DOUBLE_EQ(p_of(std::vector<double>(40, 0.0), Alternative::different), 1.0);
  EXPECT_DOUBLE_EQ(p_of(std::vector<double>(40, 0.0), Alternative::less), 1.0);
}

// In tenths every sum of ±1 ±2 ±3 ±1 is odd, so none is nearer to 0 than the observed 1; in doubles
// some are, by the rounding of 0.1 + 0.2 - 0.3.
TEST(Randomization, RoundingDoesNotBreakTies) {
  EXPECT_DOUBLE_EQ(p_of({0.1, 0.2, -0.3, 0.1}, Alternative::different), 1.0);
}

TEST(Randomization, ItemsOfADocumentShareTheirSign) {
  const std::vector<double> ones(20, 1.0);
  std::vector<std::string> clusters(20, "first");
  for (size_t i = 10; i < 20; ++i) clusters[i] = "second";
  const auto p = randomization_p(column(ones), clusters, Alternative::different);
  ASSERT_TRUE(p.ok());
  EXPECT_THAT(*p, ElementsAre(DoubleEq(2.0 / 4)));
}

TEST(Randomization, ManyClustersAreSampledAndTheChanceIsNeverZero) {
  const double p = p_of(std::vector<double>(30, 1.0), Alternative::different);
  EXPECT_GT(p, 0);
  EXPECT_LT(p, 0.001);
}

// The share of 2^16 assignments, counted one by one here, against 10,000 random ones.
TEST(Randomization, SamplingAgreesWithTheExactShare) {
  std::vector<double> differences;
  for (int i = 0; i < 16; ++i) differences.push_back(std::sin(7.0 * i + 1) + 0.35);
  double observed = 0;
  for (double d : differences) observed += d;
  int extreme = 0;
  for (unsigned signs = 0; signs < 1U << 16; ++signs) {
    double sum = 0;
    for (size_t k = 0; k < differences.size(); ++k) {
      sum += (signs >> k & 1U) != 0 ? -differences[k] : differences[k];
    }
    extreme += std::abs(sum) >= std::abs(observed) - 1e-9 ? 1 : 0;
  }
  const double exact = extreme / 65536.0;
  // Four standard errors of a share of 10,000 draws.
  const double slack = 4 * std::sqrt(exact * (1 - exact) / 10000);
  EXPECT_THAT(p_of(differences, Alternative::different), DoubleNear(exact, slack));
}

TEST(Randomization, ColumnsDoNotInfluenceEachOther) {
  const std::vector<Statistics> rows = {{1, 5}, {2, -5}, {4, 1}};
  const auto both = randomization_p(rows, one_each(3), Alternative::different);
  ASSERT_TRUE(both.ok());
  EXPECT_THAT(*both, ElementsAre(DoubleEq(p_of({1, 2, 4}, Alternative::different)),
                                 DoubleEq(p_of({5, -5, 1}, Alternative::different))));
}

TEST(Randomization, DoesNotDependOnTheOrderOfItems) {
  std::vector<Statistics> rows;
  std::vector<std::string> clusters;
  for (int i = 0; i < 120; ++i) {
    rows.push_back({std::sin(7.0 * i + 1) + 0.1});
    clusters.push_back("d" + std::to_string(i / 5));
  }
  const auto p = *randomization_p(rows, clusters, Alternative::different);
  std::ranges::reverse(rows);
  std::ranges::reverse(clusters);
  EXPECT_EQ(*randomization_p(rows, clusters, Alternative::different), p);
  EXPECT_NE(randomization_signature({}).find("|order:sha256|"), std::string::npos);
}

// All signs agree in one of 2^n assignments, and two-sided in two of them.
TEST(Randomization, FewClustersCannotBeSignificant) {
  EXPECT_DOUBLE_EQ(least_p(4, Alternative::less), 1.0 / 16);
  EXPECT_DOUBLE_EQ(least_p(4, Alternative::different), 1.0 / 8);
  EXPECT_DOUBLE_EQ(least_p(1, Alternative::different), 1.0);
  EXPECT_DOUBLE_EQ(least_p(40, Alternative::less), 1.0 / 10001);
  EXPECT_DOUBLE_EQ(least_p(4, Alternative::less), p_of({-1, -1, -1, -1}, Alternative::less));
  EXPECT_EQ(clusters_for_p(0.05, Alternative::less), 5);
  EXPECT_EQ(clusters_for_p(0.05, Alternative::different), 6);
  EXPECT_EQ(clusters_for_p(0.05 / 4, Alternative::less), 7);
  EXPECT_EQ(clusters_for_p(0.00001, Alternative::less), 0) << "10,000 trials do not suffice";
}

TEST(Randomization, RefusesWhatItCannotTest) {
  const auto message = [](const std::vector<Statistics>& rows, size_t clusters) {
    return randomization_p(rows, one_each(clusters), Alternative::less).error().message;
  };
  EXPECT_THAT(message({}, 0), HasSubstr("at least one item"));
  EXPECT_THAT(message(column({1, 2}), 3), HasSubstr("2 items, 3 clusters"));
  EXPECT_THAT(message(column({1, std::nan("")}), 2), HasSubstr("row 1"));
  EXPECT_THAT(
      randomization_p(column({1}), one_each(1), Alternative::less, {.trials = 0}).error().message,
      HasSubstr("at least 1 trial"));
}

// Sorted 0.005, 0.01, 0.03, 0.04, times 4, 3, 2, 1, never falling: 0.02, 0.03, 0.06, 0.06.
TEST(Holm, MultipliesByTheTestsThatAreLeft) {
  EXPECT_THAT(holm_adjusted(std::vector{0.01, 0.04, 0.03, 0.005}),
              ElementsAre(DoubleEq(0.03), DoubleEq(0.06), DoubleEq(0.06), DoubleEq(0.02)));
}

TEST(Holm, NeverExceedsOne) {
  EXPECT_THAT(holm_adjusted(std::vector{0.6, 0.9}), ElementsAre(1.0, 1.0));
  EXPECT_TRUE(holm_adjusted({}).empty());
}

}  // namespace
}  // namespace qfs::metrics

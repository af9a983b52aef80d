// Planted: what a gate declares is what happens. Simulated gates over documents whose differences
// are known: equal results and results at the margin are called worse no more often than the level
// says, drops of 1, 2 and 4 points are found with the power that follows from how the documents
// differ, and the interval of the power that each gate prints holds it. Seeds are fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/core/rng.h"
#include "harness/gate/policy.h"

namespace qfs::gate {
namespace {

using compare::Comparison;
using compare::PairedStatistics;
using compare::Verdict;

constexpr size_t kGates = 1000;
/// All exchanges of so few are looked at, and none is drawn, which makes a gate quick.
constexpr size_t kFewDocuments = 9;
constexpr size_t kMoreDocuments = 12;
constexpr size_t kPerDocument = 2;
constexpr double kPoint = 0.01;
constexpr double kConfidence = 0.95;  ///< of the interval of a printed power

/// About standard normal: the sum of twelve uniform numbers (variance 1/12 each), less its mean.
double normal(Rng& rng) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += rng.uniform();
  return sum;
}

/// Documents of which each differs in its own way, and its examples a little from one another.
PairedStatistics sample(Rng& rng, size_t documents, double drop, double spread) {
  PairedStatistics paired;
  paired.columns = {"rouge1.f"};
  paired.is_mean = {true};
  paired.better = {Better::higher};
  for (size_t d = 0; d < documents; ++d) {
    const double of_document = spread * normal(rng);
    for (size_t e = 0; e < kPerDocument; ++e) {
      const double before = 0.3 + 0.05 * normal(rng);
      paired.ordinals.push_back(static_cast<int64_t>(paired.ordinals.size()));
      paired.clusters.push_back(std::to_string(d));
      paired.first.push_back({before});
      paired.second.push_back({before - drop + of_document + spread / 2 * normal(rng)});
    }
  }
  return paired;
}

struct Simulation {
  double drop = 0;  ///< of the first of `metrics` metrics alone
  double margin = 0;
  double spread = 0.02;
  size_t metrics = 1;
  size_t documents = kFewDocuments;
  compare::Rule rule = compare::Rule::non_inferior;
};

struct Tally {
  double worse = 0;  ///< shares of the gates
  double not_worse = 0;
  /// As a gate would print them that knew how documents differ; each estimates it from its own.
  double power = 0;
  double power_of_equal = 0;
  double power_within = 0;  ///< shares of the gates whose interval holds the above
  double power_of_equal_within = 0;
};

/// The standard error of the mean difference of such documents: one of their own each, and half of
/// it for each example.
double true_standard_error(const Simulation& what) {
  const double variance = what.spread * what.spread * (1 + 0.25 / kPerDocument);
  return std::sqrt(variance / static_cast<double>(what.documents));
}

bool holds(const compare::Estimate& printed, double truth) {
  return printed.low <= truth && truth <= printed.high;
}

Tally simulate(const Simulation& what, uint64_t seed) {
  const auto& [drop, margin, spread, metrics, documents, rule] = what;
  Policy policy = default_policy();
  policy.request.margins["rouge1.f"] = {.rule = rule, .size = margin};
  Rng rng(seed);
  Tally tally;
  for (size_t gate = 0; gate < kGates; ++gate) {
    compare::Outcome outcome;
    for (size_t m = 0; m < metrics; ++m) {
      auto compared = compare::compare_metric(sample(rng, documents, m == 0 ? drop : 0, spread),
                                              policy.request, nullptr);
      EXPECT_TRUE(compared.ok());
      outcome.comparisons.push_back(*std::move(compared));
    }
    compare::conclude(outcome);
    // A false alarm is one of any metric; a drop is found where it is.
    bool any_worse = false;
    for (const Comparison& comparison : outcome.comparisons) {
      any_worse = any_worse || comparison.columns[0].decision->verdict == Verdict::worse;
    }
    const compare::Decision& first = *outcome.comparisons[0].columns[0].decision;
    const bool found = drop > margin ? first.verdict == Verdict::worse : any_worse;
    tally.worse += found ? 1.0 / kGates : 0;
    tally.not_worse += first.verdict == Verdict::not_worse ? 1.0 / kGates : 0;
    compare::Decision known = first;
    known.standard_error = true_standard_error(what);
    tally.power = known.power(drop)->value;
    tally.power_of_equal = known.power_of_equal()->value;
    tally.power_within += holds(*first.power(drop), tally.power) ? 1.0 / kGates : 0;
    tally.power_of_equal_within +=
        holds(*first.power_of_equal(), tally.power_of_equal) ? 1.0 / kGates : 0;
  }
  return tally;
}

/// Three standard errors of a share of so many gates.
double binomial(double share) {
  return std::max(1.0 / kGates, 3 * std::sqrt(share * (1 - share) / kGates));
}

const double kMostAlarms = compare::kLevel + binomial(compare::kLevel);

TEST(SimulatedGates, EqualResultsRaiseNoMoreFalseAlarmsThanDeclared) {
  // The least favourable margin: any loss counts.
  EXPECT_LE(simulate({.documents = kMoreDocuments}, 1).worse, kMostAlarms);
  EXPECT_LE(simulate({.metrics = 4}, 2).worse, kMostAlarms);
  EXPECT_LE(simulate({.metrics = 4, .rule = compare::Rule::max_drop}, 3).worse, kMostAlarms);
  EXPECT_LE(simulate({.margin = kPoint, .metrics = 4}, 4).worse, compare::kLevel);
}

TEST(SimulatedGates, ALossAtTheMarginIsCalledWorseOrPassesNoMoreOftenThanDeclared) {
  const Tally tally = simulate({.drop = kPoint, .margin = kPoint}, 5);
  EXPECT_LE(tally.worse, kMostAlarms);
  EXPECT_LE(tally.not_worse, kMostAlarms);
}

TEST(SimulatedGates, DropsAreFoundWithThePrintedPower) {
  for (const double points : {1.0, 2.0, 4.0}) {
    for (const double spread : {0.01, 0.03}) {
      const Tally tally = simulate({.drop = points * kPoint, .spread = spread}, 6);
      EXPECT_NEAR(tally.worse, tally.power, binomial(tally.power))
          << points << " points, spread " << spread;
      EXPECT_GE(tally.power_within, kConfidence - binomial(kConfidence));
    }
  }
  const Tally tally = simulate({.drop = 2 * kPoint, .documents = kMoreDocuments}, 7);
  EXPECT_NEAR(tally.worse, tally.power, binomial(tally.power));
}

TEST(SimulatedGates, ADropAmongOtherMetricsIsFoundWithThePrintedPower) {
  const Tally tally =
      simulate({.drop = 2 * kPoint, .margin = kPoint / 2, .spread = 0.012, .metrics = 4}, 8);
  EXPECT_GT(tally.power, 0.3);
  EXPECT_NEAR(tally.worse, tally.power, binomial(tally.power));
}

TEST(SimulatedGates, EqualResultsPassWithThePrintedPower) {
  const Tally tally = simulate({.margin = kPoint, .spread = 0.012}, 9);
  EXPECT_GT(tally.power_of_equal, 0.3);
  EXPECT_NEAR(tally.not_worse, tally.power_of_equal, binomial(tally.power_of_equal));
  EXPECT_GE(tally.power_of_equal_within, kConfidence - binomial(kConfidence));
}

}  // namespace
}  // namespace qfs::gate

// One metric of two results: order of the examples, directions, margins on few clusters.
#include "harness/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace qfs::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// One column, `per_cluster` examples a document; A has about 0.5, B has `change` more.
PairedStatistics sample(size_t clusters, size_t per_cluster, double change, double noise = 0.05,
                        const std::string& column = "rouge1.f", Better better = Better::higher) {
  PairedStatistics paired;
  paired.columns = {column};
  paired.is_mean = {true};
  paired.better = {better};
  for (size_t i = 0; i < clusters * per_cluster; ++i) {
    const auto x = static_cast<double>(i);
    const double a = 0.5 + 0.1 * std::sin(3 * x);
    paired.ordinals.push_back(static_cast<int64_t>(i));
    paired.clusters.push_back("document-" + std::to_string(i / per_cluster));
    paired.first.push_back({a});
    paired.second.push_back({a + change + noise * std::sin(7 * x + 1)});
  }
  return paired;
}

PairedStatistics in_order(const PairedStatistics& paired, const std::vector<size_t>& order) {
  PairedStatistics other = paired;
  for (size_t i = 0; i < order.size(); ++i) {
    other.ordinals[i] = paired.ordinals[order[i]];
    other.clusters[i] = paired.clusters[order[i]];
    other.first[i] = paired.first[order[i]];
    other.second[i] = paired.second[order[i]];
  }
  return other;
}

Comparison compared(const PairedStatistics& paired, const Request& request = {}) {
  auto comparison = compare_metric(paired, request, nullptr);
  EXPECT_TRUE(comparison.ok()) << comparison.error().message;
  Outcome outcome;
  outcome.comparisons.push_back(*std::move(comparison));
  conclude(outcome);
  return outcome.comparisons[0];
}

Decision decision_of(const PairedStatistics& paired, Rule rule, double margin) {
  Request request;
  request.margins[paired.columns[0]] = {rule, margin};
  return *compared(paired, request).columns[0].decision;
}

TEST(CompareMetric, TheOrderOfExamplesChangesNoDigit) {
  const PairedStatistics paired = sample(30, 5, -0.01);
  Request request;
  request.margins["rouge1.f"] = {Rule::max_drop, 0.001};
  const ComparedColumn straight = compared(paired, request).columns[0];
  std::vector<size_t> order(paired.ordinals.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::reverse(order);
  std::vector<size_t> strided;
  for (size_t i = 0; i < order.size(); ++i) strided.push_back(i * 7 % order.size());
  for (const auto& other : {order, strided}) {
    const ComparedColumn column = compared(in_order(paired, other), request).columns[0];
    EXPECT_EQ(column.a, straight.a);
    EXPECT_EQ(column.difference.difference, straight.difference.difference);
    EXPECT_EQ(column.difference.interval, straight.difference.interval);
    EXPECT_EQ(column.p, straight.p);
    EXPECT_EQ(column.decision->p_worse, straight.decision->p_worse);
    EXPECT_EQ(column.decision->standard_error, straight.decision->standard_error);
  }
}

TEST(CompareMetric, ACollapseOnFewDocumentsNeverPasses) {
  for (size_t documents : {1, 2, 3, 4}) {
    PairedStatistics paired = sample(documents, 2, 0);
    for (Statistics& row : paired.second) row[0] = 0;
    const Decision decision = decision_of(paired, Rule::max_drop, 0.01);
    EXPECT_EQ(decision.verdict, Verdict::cannot_decide) << documents;
    EXPECT_EQ(decision.clusters_needed, 5);
  }
  PairedStatistics enough = sample(5, 2, 0);
  for (Statistics& row : enough.second) row[0] = 0;
  EXPECT_EQ(decision_of(enough, Rule::max_drop, 0.01).verdict, Verdict::worse);
}

TEST(CompareMetric, DecisionsAloneAreTheSameDecisions) {
  const PairedStatistics paired = sample(12, 2, -0.02);
  Request request;
  request.margins["rouge1.f"] = {Rule::max_drop, 0.001};
  const Comparison whole = compared(paired, request);
  request.decisions_only = true;
  const Comparison bare = compared(paired, request);
  EXPECT_EQ(bare.columns[0].decision->p_worse, whole.columns[0].decision->p_worse);
  EXPECT_EQ(bare.columns[0].decision->verdict, whole.columns[0].decision->verdict);
  EXPECT_EQ(bare.columns[0].decision->power(0.02)->value,
            whole.columns[0].decision->power(0.02)->value);
  EXPECT_NEAR(bare.columns[0].difference.difference, whole.columns[0].difference.difference, 1e-12);
  EXPECT_EQ(bare.clusters, 12);
  EXPECT_FALSE(bare.columns[0].difference.interval.available());
}

// Two of six documents got slightly better, four lost everything: no test of six shows it.
TEST(CompareMetric, ALargeLossThatIsNotSignificantDoesNotPass) {
  PairedStatistics paired = sample(6, 1, 0);
  for (size_t i = 0; i < 6; ++i) paired.second[i][0] = i < 2 ? paired.first[i][0] + 0.2 : 0;
  const Decision decision = decision_of(paired, Rule::max_drop, 0.01);
  EXPECT_EQ(decision.verdict, Verdict::cannot_decide);
  EXPECT_EQ(decision.doubt, Doubt::may_be_chance);
  EXPECT_GT(decision.clusters_needed, 6);
}

TEST(CompareMetric, EqualResultsAreShownNotToBeWorse) {
  const PairedStatistics same = sample(12, 2, 0, 0);
  EXPECT_EQ(decision_of(same, Rule::max_drop, 0.01).verdict, Verdict::not_worse);
  EXPECT_EQ(decision_of(same, Rule::non_inferior, 0.01).verdict, Verdict::not_worse);
  EXPECT_EQ(decision_of(same, Rule::non_inferior, 0).verdict, Verdict::cannot_decide);
}

TEST(CompareMetric, AMarginIsOfTheDirectionThatIsWorse) {
  const auto verdict = [](double change, Better better) {
    return decision_of(sample(20, 1, change, 0.01, "repeated2", better), Rule::max_drop, 0.01)
        .verdict;
  };
  EXPECT_EQ(verdict(-0.1, Better::higher), Verdict::worse);
  EXPECT_EQ(verdict(0.1, Better::higher), Verdict::not_worse);
  EXPECT_EQ(verdict(-0.1, Better::lower), Verdict::not_worse);
  EXPECT_EQ(verdict(0.1, Better::lower), Verdict::worse);
}

TEST(CompareMetric, AMarginNeedsADirection) {
  const auto message = [](Better better) {
    Request request;
    request.margins["length.words"] = {Rule::max_drop, 1};
    return compare_metric(sample(20, 1, 0, 0.01, "length.words", better), request, nullptr)
        .error()
        .message;
  };
  EXPECT_THAT(message(Better::neither), HasSubstr("neither better nor worse"));
  EXPECT_THAT(message(Better::unknown), HasSubstr("does not know"));
  EXPECT_THAT(message(Better::unknown), HasSubstr("--better length.words=higher"));
  Request request;
  request.margins["length.words"] = {Rule::max_drop, 0.01};
  request.better["length.words"] = Better::higher;
  const auto paired = sample(20, 1, -0.1, 0.01, "length.words", Better::neither);
  EXPECT_EQ(compared(paired, request).columns[0].decision->verdict, Verdict::worse);
}

TEST(CompareMetric, AKnownDirectionIsNotTurnedRound) {
  const auto message = [](Better known, Better said) {
    Request request;
    request.better["rouge1.f"] = said;
    const auto result = compare_metric(sample(20, 1, 0, 0.01, "rouge1.f", known), request, nullptr);
    return result ? "" : result.error().message;
  };
  EXPECT_EQ(message(Better::higher, Better::lower),
            "--better rouge1.f=lower: by its metric higher values are better");
  EXPECT_EQ(message(Better::lower, Better::higher),
            "--better rouge1.f=higher: by its metric lower values are better");
  EXPECT_EQ(message(Better::higher, Better::higher), "");
  EXPECT_EQ(message(Better::neither, Better::lower), "");
}

TEST(CompareMetric, AMarginAboveTheBaselineCannotBeLost) {
  EXPECT_EQ(decision_of(sample(20, 1, 0), Rule::max_drop, 0.9).doubt, Doubt::nothing_to_lose);
}

TEST(CompareMetric, WhatOneSideLacksIsListed) {
  PairedStatistics paired = sample(3, 2, 0);
  paired.only_first = {"q7", "q8"};
  paired.only_first_clusters = {"document-0", "document-9"};
  const Comparison comparison = compared(paired);
  EXPECT_THAT(comparison.only_a, ElementsAre("q7", "q8"));
  EXPECT_THAT(comparison.clusters_only_a, ElementsAre("document-9"));
}

TEST(Complete, MeansThatAllOfTheBaselineWasCompared) {
  Outcome outcome;
  EXPECT_FALSE(outcome.complete()) << "nothing was compared";
  outcome.comparisons.emplace_back();
  EXPECT_TRUE(outcome.complete());
  outcome.only_b.push_back({"new", "no such cell in A"});
  outcome.comparisons[0].only_b = {"q1"};
  EXPECT_TRUE(outcome.complete());
  outcome.comparisons[0].only_a = {"q2"};
  EXPECT_FALSE(outcome.complete());
  outcome.skip_missing = true;
  EXPECT_TRUE(outcome.complete());
  outcome.missing.push_back({"old", "no such cell in B"});
  EXPECT_FALSE(outcome.complete());
}

}  // namespace
}  // namespace qfs::compare

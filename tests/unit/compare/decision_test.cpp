// Verdicts on margins: worse, not worse, cannot decide, and what would decide.
#include "harness/compare/decision.h"

#include <gtest/gtest.h>

#include <vector>

namespace qfs::compare {
namespace {

/// A drop of `loss` with this p of "not beyond the margin" on many clusters.
Decision tested(double loss, double p_worse, Rule rule = Rule::max_drop, double margin = 0.01) {
  Decision decision;
  decision.margin = {rule, margin};
  decision.loss = loss;
  decision.p_worse = p_worse;
  decision.p_not_worse = 1 - p_worse;
  decision.clusters = 40;
  decision.standard_error = 0.01;
  return decision;
}

Decision decided(Decision decision) {
  Decision* const only = &decision;
  decide({&only, 1});
  return decision;
}

TEST(MaxDrop, ASignificantLossBeyondTheMarginIsWorse) {
  EXPECT_EQ(decided(tested(0.05, 0.01)).verdict, Verdict::worse);
  EXPECT_EQ(decided(tested(0.05, 0.01)).p(), 0.01);
}

TEST(MaxDrop, ALossWithinTheMarginPasses) {
  EXPECT_EQ(decided(tested(0.005, 0.7)).verdict, Verdict::not_worse);
  EXPECT_EQ(decided(tested(-0.3, 1)).verdict, Verdict::not_worse);
  EXPECT_EQ(decided(tested(0, 1)).doubt, Doubt::none);
}

TEST(MaxDrop, ALossBeyondTheMarginNeverPasses) {
  const Decision decision = decided(tested(0.02, 0.2));
  EXPECT_EQ(decision.verdict, Verdict::cannot_decide);
  EXPECT_EQ(decision.doubt, Doubt::may_be_chance);
  // One standard error away: 40 * 2.487^2 = 247.3 clusters (level 0.05, power 0.8).
  EXPECT_EQ(decision.clusters_needed, 248);
}

TEST(MaxDrop, FourClustersCannotDecideWhateverTheyShow) {
  for (double loss : {0.4, 0.0, -0.4}) {
    Decision collapse = tested(loss, 1.0 / 16);
    collapse.clusters = 4;
    const Decision decision = decided(collapse);
    EXPECT_EQ(decision.verdict, Verdict::cannot_decide);
    EXPECT_EQ(decision.doubt, Doubt::too_few_clusters);
    EXPECT_EQ(decision.least_p, 1.0 / 16);
    EXPECT_EQ(decision.clusters_needed, 5);
  }
}

TEST(MaxDrop, TheBootstrapNeedsTenClusters) {
  Decision few = tested(0.4, 1);
  few.bootstrap = true;
  few.clusters = 9;
  EXPECT_EQ(decided(few).doubt, Doubt::too_few_clusters);
  EXPECT_EQ(decided(few).clusters_needed, 10);
}

TEST(MaxDrop, ABaselineWithoutSoMuchToLoseDecidesNothing) {
  Decision empty = tested(0, 1);
  empty.nothing_to_lose = true;
  EXPECT_EQ(decided(empty).doubt, Doubt::nothing_to_lose);
}

TEST(MaxDrop, FewerExamplesThanAskedForDecideNothing) {
  Decision few = tested(0.05, 0.001);
  few.examples = 19;
  few.minimum_examples = 20;
  EXPECT_EQ(decided(few).doubt, Doubt::below_minimum);
  few.examples = 20;
  EXPECT_EQ(decided(few).verdict, Verdict::worse);
}

TEST(Unchanged, PassesWithoutATestAndIsInNoFamily) {
  Decision same = tested(0, 1, Rule::non_inferior);
  same.unchanged = true;
  same.clusters = 2;
  same.standard_error = 0;
  Decision changed = tested(0.05, 0.02);
  Decision* const both[] = {&same, &changed};
  decide(both);
  EXPECT_EQ(same.verdict, Verdict::not_worse);
  EXPECT_EQ(changed.tests, 1);
  EXPECT_EQ(changed.p_worse_holm, 0.02);
  EXPECT_EQ(changed.verdict, Verdict::worse);
  same.nothing_to_lose = true;
  EXPECT_EQ(decided(same).doubt, Doubt::nothing_to_lose) << "two empty results";
}

TEST(Power, IsOfTheLossBeyondTheMarginAtTheLevelOfTheFamily) {
  const Decision alone = decided(tested(0.005, 0.7));  // 40 clusters, standard error 0.01
  EXPECT_NEAR(alone.power(0.01)->value, kLevel, 1e-9) << "at the margin";
  EXPECT_NEAR(alone.power(alone.detectable_loss()->value)->value, 0.8, 1e-9);
  EXPECT_NEAR(alone.power_of_equal()->value, alone.power(0.02)->value, 1e-12);
  Decision first = tested(0.005, 0.7);
  Decision second = tested(0.005, 0.7);
  Decision* const both[] = {&first, &second};
  decide(both);
  EXPECT_LT(first.power(0.03)->value, alone.power(0.03)->value);
  Decision flat = tested(0, 1);
  flat.standard_error = 0;
  EXPECT_FALSE(decided(flat).power(0.1).has_value());
  EXPECT_FALSE(decided(flat).detectable_loss().has_value());
}

// The spread of 40 documents is known to 0.82 … 1.28 times (chi-square with 39 degrees of freedom).
TEST(Power, SaysHowWellItIsKnown) {
  const Decision decision = decided(tested(0.005, 0.7));
  const Estimate beyond = *decision.power(0.03);
  EXPECT_LT(beyond.low, beyond.value);
  EXPECT_GT(beyond.high, beyond.value);
  const Estimate within = *decision.power(0);
  EXPECT_LT(within.low, within.value) << "a wider spread finds more of what is not there";
  EXPECT_GT(within.high, within.value);
  const Estimate loss = *decision.detectable_loss();
  EXPECT_NEAR((loss.low - 0.01) / (loss.value - 0.01), 0.82, 0.005);
  EXPECT_NEAR((loss.high - 0.01) / (loss.value - 0.01), 1.28, 0.005);
  const Estimate margin = *decision.power(0.01);
  EXPECT_NEAR(margin.low, margin.high, 1e-12) << "the level, whatever the spread";
}

TEST(NonInferior, PassesOnlyWhatIsShown) {
  const auto verdict = [](double loss, double p_worse) {
    return decided(tested(loss, p_worse, Rule::non_inferior)).verdict;
  };
  EXPECT_EQ(verdict(-0.02, 0.99), Verdict::not_worse);
  EXPECT_EQ(verdict(0.005, 0.7), Verdict::cannot_decide) << "max_drop passes this one";
  EXPECT_EQ(verdict(0.05, 0.01), Verdict::worse);
}

TEST(NonInferior, SaysWhatWouldShowIt) {
  const Decision near = decided(tested(0, 0.7, Rule::non_inferior));
  EXPECT_EQ(near.doubt, Doubt::may_be_chance);
  EXPECT_EQ(near.clusters_needed, 248);
  EXPECT_DOUBLE_EQ(near.p(), 0.3);
  const Decision beyond = decided(tested(0.02, 0.3, Rule::non_inferior));
  EXPECT_EQ(beyond.doubt, Doubt::beyond_margin);
  EXPECT_EQ(beyond.clusters_needed, 0);
}

// Whatever B is, it has not lost more than there was.
TEST(NonInferior, ABaselineWithoutSoMuchToLoseShowsNothing) {
  Decision decision = tested(0, 1, Rule::non_inferior);
  EXPECT_EQ(decided(decision).verdict, Verdict::not_worse);
  decision.nothing_to_lose = true;
  EXPECT_EQ(decided(decision).verdict, Verdict::cannot_decide);
  EXPECT_EQ(decided(decision).doubt, Doubt::nothing_to_lose);
  decision.clusters = 2;
  EXPECT_EQ(decided(decision).doubt, Doubt::nothing_to_lose) << "more clusters change nothing";
}

TEST(Several, AreAdjustedAfterHolm) {
  Decision first = tested(0.05, 0.03);
  Decision second = tested(0.05, 0.02);
  Decision third = tested(0.0, 0.9);
  const std::vector<Decision*> all = {&first, &second, &third};
  decide(all);
  EXPECT_DOUBLE_EQ(second.p_worse_holm, 0.06);
  EXPECT_EQ(first.verdict, Verdict::cannot_decide) << "0.03 alone would be worse";
  EXPECT_EQ(second.verdict, Verdict::cannot_decide);
  EXPECT_EQ(third.verdict, Verdict::not_worse);
  EXPECT_EQ(first.tests, 3);
}

TEST(Several, NeedMoreClusters) {
  Decision first = tested(0.4, 1.0 / 32);
  Decision second = first;
  first.clusters = second.clusters = 5;
  const std::vector<Decision*> both = {&first, &second};
  decide(both);
  EXPECT_EQ(first.doubt, Doubt::too_few_clusters);
  EXPECT_EQ(first.clusters_needed, 6) << "1/64 is below 0.05/2";
}

TEST(Several, CanBeTooManyForAnyNumberOfClusters) {
  std::vector<Decision> many(600, tested(0.4, 1.0 / 10001));
  std::vector<Decision*> all;
  for (Decision& decision : many) all.push_back(&decision);
  decide(all);
  EXPECT_EQ(many[0].doubt, Doubt::too_few_clusters);
  EXPECT_EQ(many[0].clusters_needed, 0);
}

}  // namespace
}  // namespace qfs::compare

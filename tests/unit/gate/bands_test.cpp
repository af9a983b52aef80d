// Verdicts on speed and memory: medians in their bands, ranges that overlap, other machines.
#include "harness/gate/bands.h"

#include <gtest/gtest.h>

namespace qfs::gate {
namespace {

using compare::Repeated;
using compare::Verdict;

constexpr Repeated kBefore{100, 95, 105, 3};

BandCheck speed(const Repeated& now, bool same_machine = true) {
  return judge_band({.value = "tokens_per_second", .ratio = 0.9}, kBefore, now, same_machine);
}

TEST(Band, AMedianInsidePasses) {
  const BandCheck check = speed({91, 80, 99, 3});
  EXPECT_EQ(check.verdict, Verdict::not_worse);
  EXPECT_DOUBLE_EQ(check.ratio, 0.91);
  EXPECT_EQ(speed({300, 280, 310, 3}).verdict, Verdict::not_worse);
}

TEST(Band, IsWorseWhenEvenTheBestRepetitionLiesOutside) {
  // 85 / 95 = 0.895: the best of the candidate against the worst of the baseline.
  EXPECT_EQ(speed({80, 70, 85, 3}).verdict, Verdict::worse);
  const BandCheck overlapping = speed({80, 70, 86, 3});  // 86 / 95 = 0.905
  EXPECT_EQ(overlapping.verdict, Verdict::cannot_decide);
  EXPECT_EQ(overlapping.doubt, BandDoubt::may_be_chance);
}

TEST(Band, FewRepetitionsDecideNothing) {
  EXPECT_EQ(speed({100, 100, 100, 2}).doubt, BandDoubt::few_repetitions);
}

TEST(Band, TimesOfAnotherMachineDecideNothingAndMemoryDoes) {
  EXPECT_EQ(speed({10, 10, 10, 3}, false).doubt, BandDoubt::other_machine);
  const Band memory{.value = "peak_memory", .ratio = 1.1};
  EXPECT_EQ(judge_band(memory, kBefore, {130, 128, 131, 3}, false).verdict, Verdict::worse);
  EXPECT_EQ(judge_band(memory, kBefore, {109, 108, 111, 3}, false).verdict, Verdict::not_worse);
  // 112 / 105 = 1.067: the smallest peak is inside.
  EXPECT_EQ(judge_band(memory, kBefore, {115, 112, 116, 3}, false).doubt, BandDoubt::may_be_chance);
}

TEST(Limit, HoldsInItsDirection) {
  EXPECT_EQ(judge_limit({"rougeL.f", 20, true}, 20).verdict, Verdict::not_worse);
  EXPECT_EQ(judge_limit({"rougeL.f", 20, true}, 19.99).verdict, Verdict::worse);
  EXPECT_EQ(judge_limit({"peak_memory", 600, false}, 601).verdict, Verdict::worse);
}

}  // namespace
}  // namespace qfs::gate

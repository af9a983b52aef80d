// Which examples a spot check draws, and the bound that it gives.
#include "harness/claims/spot_check.h"

#include <gtest/gtest.h>

#include <set>

namespace qfs::claims {
namespace {

TEST(SpotCheck, DrawsDistinctExamplesBySeed) {
  const std::vector<int64_t> first = drawn(1000, 20, 7);
  EXPECT_EQ(first.size(), 20U);
  EXPECT_EQ(std::set<int64_t>(first.begin(), first.end()).size(), 20U);
  EXPECT_EQ(first, drawn(1000, 20, 7));
  EXPECT_NE(first, drawn(1000, 20, 8));
  EXPECT_EQ(drawn(3, 20, 7), (std::vector<int64_t>{0, 1, 2}));
}

// 1 - 0.05^(1/n); the rule of three says 3/n. The others: Clopper and Pearson's one-sided bounds.
TEST(SpotCheck, BoundsTheShareOfDifferentOutputs) {
  EXPECT_NEAR(upper_bound(20, 0), 0.1391, 5e-5);
  EXPECT_NEAR(upper_bound(100, 0), 0.0295, 5e-5);
  EXPECT_NEAR(upper_bound(20, 1), 0.2161, 5e-5);
  EXPECT_NEAR(upper_bound(10, 5), 0.7776, 5e-5);
  EXPECT_EQ(upper_bound(5, 5), 1);
}

TEST(SpotCheck, SaysWhatItGives) {
  EXPECT_EQ(bound_text({.examples = 20, .different = {}, .of = 281}, 7),
            "20 of 281 outputs, drawn by seed 7, were generated again: all are equal. With 95 % "
            "confidence at most 13.9 % of the outputs differ from what the method gives. "
            "The references are those of the data set.");
  EXPECT_EQ(bound_text({.examples = 20, .different = {"e3"}, .of = 281}, 7),
            "20 of 281 outputs, drawn by seed 7, were generated again: 1 differs. With 95 % "
            "confidence at most 21.6 % of the outputs differ from what the method gives. "
            "Different: e3. The references are those of the data set.");
  EXPECT_EQ(bound_text({.examples = 20, .different = {}, .of = 20, .missing = 2}, 7),
            "All of 20 outputs were generated again: all are equal. 2 examples have no output. "
            "The references are those of the data set.")
      << "nothing is left to be bounded";
  EXPECT_EQ(bound_text({.examples = 2, .different = {}, .of = 2, .other_references = {"e1"}}, 7),
            "All of 2 outputs were generated again: all are equal. The references of 1 example are "
            "not those of the data set: e1.");
}

}  // namespace
}  // namespace qfs::claims

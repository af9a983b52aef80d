// Rng against an independent implementation: tests/conformance/core/reference_values.py.
#include "harness/core/rng.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace qfs {
namespace {

using ::testing::ElementsAre;

std::vector<uint64_t> draw(Rng rng, size_t count) {
  std::vector<uint64_t> values(count);
  for (uint64_t& value : values) value = rng.next();
  return values;
}

TEST(Rng, IsXoshiro256StarStarSeededBySplitMix64) {
  EXPECT_THAT(draw(Rng(0), 4), ElementsAre(0x99ec5f36cb75f2b4, 0xbf6e1f784956452a,
                                           0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c));
  EXPECT_THAT(draw(Rng(42), 4), ElementsAre(0x15780b2e0c2ec716, 0x6104d9866d113a7e,
                                            0xae17533239e499a1, 0xecb8ad4703b360a1));
  EXPECT_THAT(draw(Rng(UINT64_MAX), 4), ElementsAre(0x8f5520d52a7ead08, 0xc476a018caa1802d,
                                                    0x81de31c0d260469e, 0xbf658d7e065f3c2f));
}

TEST(Rng, DerivesStreamsBySha256OfSeedPurposeAndIndex) {
  EXPECT_THAT(
      draw(Rng::derived(7, "sample", 3), 4),
      ElementsAre(0x0469a11755a8fbd5, 0x5fbd964f9317e649, 0x530a3806762cbd51, 0x85551e150d98685a));
  EXPECT_NE(draw(Rng::derived(7, "sample", 4), 1), draw(Rng::derived(7, "sample", 3), 1));
  EXPECT_NE(draw(Rng::derived(7, "other", 3), 1), draw(Rng::derived(7, "sample", 3), 1));
}

TEST(Rng, BelowIsLemiresMethod) {
  Rng rng(42);
  std::vector<uint64_t> values(12);
  for (uint64_t& value : values) value = rng.below(10);
  EXPECT_THAT(values, ElementsAre(0, 3, 6, 9, 9, 7, 7, 8, 7, 5, 6, 2));
}

TEST(Rng, BelowRejectsTheBiasedPart) {
  // Half of all draws are rejected for this bound.
  Rng rng(42);
  std::vector<uint64_t> values(4);
  for (uint64_t& value : values) value = rng.below((uint64_t{1} << 63) + 1);
  EXPECT_THAT(values, ElementsAre(0x7ef36e3ff1762f32, 0x6286d29880bca91c, 0x5c10aa42ad32eed9,
                                  0x6174b739374bb23f));
}

TEST(Rng, BelowOneIsZero) { EXPECT_EQ(Rng(1).below(1), 0U); }

TEST(Rng, UniformHas53Bits) {
  Rng rng(42);
  EXPECT_EQ(rng.uniform(), 0.08386297105988216);
  EXPECT_EQ(rng.uniform(), 0.3789802506626686);
  EXPECT_EQ(rng.uniform(), 0.6800434110281394);
}

TEST(Rng, ShuffleIsFisherYatesFromTheEnd) {
  std::vector<int> items(10);
  std::iota(items.begin(), items.end(), 0);
  Rng(42).shuffle(items);
  EXPECT_THAT(items, ElementsAre(9, 1, 4, 2, 8, 7, 6, 5, 3, 0));
}

TEST(Rng, ShuffleOfNothingDrawsNothing) {
  Rng rng(42);
  std::vector<int> empty;
  rng.shuffle(empty);
  EXPECT_EQ(rng.next(), 0x15780b2e0c2ec716U);
}

}  // namespace
}  // namespace qfs

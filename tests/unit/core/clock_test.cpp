#include "harness/core/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace qfs {
namespace {

TEST(MonotonicNs, MeasuresASleepInNanoseconds) {
  const int64_t before = monotonic_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const int64_t slept = monotonic_ns() - before;
  EXPECT_GE(slept, 5'000'000);
  EXPECT_LT(slept, 5'000'000'000);
}

TEST(WallClockUtc, IsIso8601WithMilliseconds) {
  const std::string text = wall_clock_utc();
  EXPECT_THAT(text, ::testing::MatchesRegex(
                        "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z"));
}

}  // namespace
}  // namespace qfs

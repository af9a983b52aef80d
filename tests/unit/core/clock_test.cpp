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

TEST(UtcSeconds, ReadsWhatTheWallClockWrites) {
  EXPECT_EQ(utc_seconds("1970-01-02T00:00:01.250Z"), 86401.25);
  EXPECT_EQ(utc_seconds("2026-01-31T12:34:56.000Z"), 1769862896);
  EXPECT_TRUE(utc_seconds(wall_clock_utc()).has_value());
  for (const char* text : {"", "2026-01-31", "2026-01-31T12:34:56.000Z or so"}) {
    EXPECT_FALSE(utc_seconds(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace qfs

// A repetition's memory is the largest of its units; what no host counted has no row.
#include "harness/run/memory_peaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace qfs::run {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::map<std::string, int64_t> by_kind(const MemoryPeaks& peaks) {
  std::map<std::string, int64_t> kinds;
  for (const store::MemoryRow& row : peaks.rows()) kinds[row.kind] = row.bytes;
  return kinds;
}

TEST(MemoryPeaks, of_a_host_without_a_device_are_its_own_only) {
  MemoryPeaks peaks;
  peaks.add({.ns = 1, .peak_resident_bytes = 70, .device = {}});
  peaks.add({.ns = 1, .peak_resident_bytes = 50, .device = {}});
  EXPECT_THAT(by_kind(peaks), ElementsAre(Pair("host_peak", 70)));
}

TEST(MemoryPeaks, each_kind_is_the_largest_that_was_reported) {
  MemoryPeaks peaks;
  peaks.add({.device = {.allocated_peak = 10, .requested_peak = 9, .reserved_peak = 20}});
  peaks.add(
      {.device = {.allocated_peak = 12, .requested_peak = 8, .reserved_peak = 20, .used = 40}});
  EXPECT_THAT(by_kind(peaks),
              ElementsAre(Pair("device_allocated_peak", 12), Pair("device_requested_peak", 9),
                          Pair("device_reserved_peak", 20), Pair("device_used_peak", 40),
                          Pair("host_peak", 0)));
}

}  // namespace
}  // namespace qfs::run

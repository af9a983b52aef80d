// Work and limits among the measurements of a repetition.
#include <gtest/gtest.h>

#include "harness/store/work_rows.h"

namespace qfs::store {
namespace {

TEST(WorkRows, WorkIsThatOfItsPhaseAndUnit) {
  std::vector<MeasurementRow> rows;
  add_work(0, "decode", {.flops = 5, .bytes = 6}, rows);
  add_work(1, "decode", {.flops = 7, .bytes = 8}, rows);
  add_work(0, "prefill", {.flops = 9, .bytes = 10}, rows);
  rows[0].repetition = rows[1].repetition = 2;
  using Works = std::map<std::pair<int64_t, int64_t>, Work>;
  EXPECT_EQ(works_among(rows, "decode"), (Works{{{2, 0}, {5, 6}}, {{0, 1}, {7, 8}}}));
  EXPECT_EQ(works_among(rows, "prefill"), (Works{{{0, 0}, {9, 10}}}));
  rows.pop_back();
  EXPECT_EQ(works_among(rows, "prefill"), Works{});
}

TEST(WorkRows, LimitsAreRatesASecond) {
  std::vector<MeasurementRow> rows;
  const MachineLimits limits = {.read_bytes = 30, .copy_bytes = 20, .gemm_flops = 100};
  add_limits(limits, rows);
  EXPECT_EQ(limits_among(rows), limits);
  rows[0].ns *= 2;
  EXPECT_EQ(limits_among(rows)->read_bytes, 15);
  rows[0].ns = 0;
  EXPECT_FALSE(limits_among(rows));
}

TEST(WorkRows, OfSeveralProcessesTheBestLimitsCount) {
  std::vector<MeasurementRow> rows;
  add_limits({.read_bytes = 30, .copy_bytes = 25, .gemm_flops = 100}, rows);
  add_limits({.read_bytes = 20, .copy_bytes = 28, .gemm_flops = 90}, rows);
  EXPECT_EQ(limits_among(rows), (MachineLimits{30, 28, 100}));
}

}  // namespace
}  // namespace qfs::store

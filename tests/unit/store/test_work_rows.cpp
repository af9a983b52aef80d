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
  EXPECT_EQ(work_among(rows, 0, 1, "decode"), (Work{7, 8}));
  EXPECT_EQ(work_among(rows, 0, 0, "prefill"), (Work{9, 10}));
  EXPECT_FALSE(work_among(rows, 0, 1, "prefill"));
  EXPECT_FALSE(work_among(rows, 1, 0, "decode"));
  rows.pop_back();
  EXPECT_FALSE(work_among(rows, 0, 0, "prefill"));
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

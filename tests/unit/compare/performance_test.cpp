// Speed and memory: sums within a repetition, median and range over repetitions.
#include "harness/compare/performance.h"

#include <gtest/gtest.h>

#include "harness/store/work_rows.h"

namespace qfs::compare {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

std::vector<store::MeasurementRow> rows(std::initializer_list<store::MeasurementRow> list) {
  return list;
}

TEST(MeasuredAt, IsWhatTheProbeOfAMeasurementSays) {
  store::EnvironmentRow environment;
  environment.numerics.text =
      R"({"params":{},"probe":{"device":"cpu","hardware":{"cores":2},"measure":{"examples":4}}})";
  const auto here = measured_at(environment);
  ASSERT_TRUE(here.ok());
  EXPECT_EQ(here->machine, R"({"device":"cpu","hardware":{"cores":2}})");
  EXPECT_EQ(here->protocol, R"({"examples":4})");
  environment.numerics.text = R"({"params":{}})";
  EXPECT_EQ(measured_at(environment)->machine, "") << "the store does not say it";
}

TEST(PhaseRate, AddsUnitsBeforeDividing) {
  // 10 tokens in 1 s and 30 tokens in 4 s: 40 / 5, not the mean of 10 and 7.5.
  const auto measured = rows({{0, 0, "decode", kSecond, 10},
                              {0, 1, "decode", 4 * kSecond, 30},
                              {0, 0, "prefill", kSecond, 999}});
  const auto rate = phase_rate(measured, "decode");
  ASSERT_TRUE(rate);
  EXPECT_DOUBLE_EQ(rate->median, 8.0);
  EXPECT_EQ(rate->repetitions, 1);
}

TEST(PhaseRate, IsTheMedianOfRepetitionsWithTheirRange) {
  const auto measured = rows({{0, 0, "decode", kSecond, 30},
                              {1, 0, "decode", kSecond, 10},
                              {2, 0, "decode", kSecond, 20}});
  const auto rate = phase_rate(measured, "decode");
  ASSERT_TRUE(rate);
  EXPECT_DOUBLE_EQ(rate->median, 20);
  EXPECT_DOUBLE_EQ(rate->low, 10);
  EXPECT_DOUBLE_EQ(rate->high, 30);
}

TEST(PhaseRate, OfAnEvenNumberIsTheMeanOfTheMiddle) {
  const auto measured = rows({{0, 0, "decode", kSecond, 30}, {1, 0, "decode", kSecond, 10}});
  EXPECT_DOUBLE_EQ(phase_rate(measured, "decode")->median, 20);
}

TEST(PhaseRate, DoesNotExistForMethodsThatGenerateNothing) {
  EXPECT_FALSE(phase_rate(rows({{0, 0, "total", kSecond, 0}}), "decode"));
  EXPECT_FALSE(phase_rate(rows({{0, 0, "decode", kSecond, 0}}), "decode"));
}

/// A machine that reads 100 bytes and computes 1000 operations a second.
std::vector<store::MeasurementRow> timed_decoding() {
  std::vector<store::MeasurementRow> measured = {{0, 0, "decode", 4 * kSecond, 5},
                                                 {0, 1, "decode", 6 * kSecond, 5}};
  store::add_work(0, "decode", {.flops = 10, .bytes = 200}, measured);   // 2 s of reading
  store::add_work(1, "decode", {.flops = 3000, .bytes = 50}, measured);  // 3 s of computing
  store::add_limits({.read_bytes = 100, .copy_bytes = 80, .gemm_flops = 1000}, measured);
  return measured;
}

TEST(PhaseFraction, IsTheLeastTimeOfTheWorkByTheMeasuredTime) {
  const auto fraction = phase_fraction(timed_decoding(), "decode");
  ASSERT_TRUE(fraction);
  EXPECT_DOUBLE_EQ(fraction->median, (2.0 + 3.0) / (4.0 + 6.0));
  EXPECT_EQ(fraction->repetitions, 1);
}

TEST(PhaseFraction, DoesNotExistWhereWorkOrLimitsAreNotStored) {
  EXPECT_FALSE(phase_fraction(timed_decoding(), "prefill"));
  EXPECT_FALSE(phase_fraction(rows({{0, 0, "decode", kSecond, 5}}), "decode"));
  auto without_limits = timed_decoding();
  without_limits.resize(without_limits.size() - 3);
  EXPECT_FALSE(phase_fraction(without_limits, "decode"));
  auto a_unit_without_work = timed_decoding();
  a_unit_without_work.push_back({0, 2, "decode", kSecond, 5});
  EXPECT_FALSE(phase_fraction(a_unit_without_work, "decode"));
}

TEST(PhaseLatency, IsTheMeanOverUnits) {
  const auto measured =
      rows({{0, 0, "first_token", kSecond, 1}, {0, 1, "first_token", 3 * kSecond, 1}});
  EXPECT_DOUBLE_EQ(phase_latency(measured, "first_token")->median, 2.0);
}

TEST(TimePerExample, DividesTheRepetitionByItsExamples) {
  const auto measured = rows({{0, 0, "total", kSecond, 0}, {0, 1, "total", kSecond, 0}});
  EXPECT_DOUBLE_EQ(time_per_example(measured, "total", 4)->median, 0.5);
}

TEST(TimePerExample, IsSplitIntoPhases) {
  std::vector<store::MeasurementRow> measured = {{0, 0, "compress", kSecond, 7},
                                                 {0, 1, "compress", 3 * kSecond, 0},
                                                 {0, 0, "prefill", 2 * kSecond, 50},
                                                 {0, 0, "decode", 6 * kSecond, 9},
                                                 {0, 0, "total", 13 * kSecond, 9}};
  EXPECT_DOUBLE_EQ(time_per_example(measured, "compress", 4)->median, 1) << "over its units";
  EXPECT_DOUBLE_EQ(time_per_example(measured, "prefill", 4)->median, 0.5);
  EXPECT_DOUBLE_EQ(time_per_example(measured, "decode", 4)->median, 1.5);
  EXPECT_FALSE(time_per_example(measured, "first_token", 4));
}

TEST(FlopsPerExample, AddsThePhasesThatDoWork) {
  auto measured = timed_decoding();
  EXPECT_DOUBLE_EQ(flops_per_example(measured, 4)->median, 3010.0 / 4);
  measured.push_back({0, 0, "total", 9 * kSecond, 2});
  measured.push_back({0, 0, "first_token", kSecond, 1});
  measured.push_back({0, 0, "compress", kSecond, 7});
  EXPECT_FALSE(flops_per_example(measured, 4)) << "what compressing took is not stored";
  store::add_work(0, "compress", {.flops = 990, .bytes = 0}, measured);
  EXPECT_DOUBLE_EQ(flops_per_example(measured, 4)->median, 1000);
  measured.push_back({0, 1, "compress", kSecond, 0});
  EXPECT_DOUBLE_EQ(flops_per_example(measured, 4)->median, 1000) << "nothing was compressed";
  store::add_work(1, "compress", {.flops = 40, .bytes = 0}, measured);
  EXPECT_DOUBLE_EQ(flops_per_example(measured, 4)->median, 1010) << "but for demonstrations";
  EXPECT_FALSE(flops_per_example(rows({{0, 0, "total", kSecond, 0}}), 4));
}

TEST(JoulesPerExample, AreOfACounterAndARepetition) {
  const auto measured = rows({{0, 0, "total", kSecond, 0},
                              {0, 0, "energy.processors", kSecond, 6'000'000},
                              {1, 0, "energy.processors", kSecond, 8'000'000},
                              {1, 0, "energy.device", kSecond, 500'000}});
  const auto processors = joules_per_example(measured, "processors", 4);
  ASSERT_TRUE(processors);
  EXPECT_DOUBLE_EQ(processors->low, 1.5);
  EXPECT_DOUBLE_EQ(processors->high, 2);
  EXPECT_DOUBLE_EQ(joules_per_example(measured, "device", 4)->median, 0.125);
  EXPECT_FALSE(joules_per_example(rows({{0, 0, "total", kSecond, 0}}), "processors", 4));
}

TEST(MemoryPeak, IsTheLargestOfARepetitionAndOfItsKindOnly) {
  const std::vector<store::MemoryRow> memory = {{0, "host_peak", 10},
                                                {0, "host_peak", 30},
                                                {1, "host_peak", 20},
                                                {1, "device_used_peak", 99}};
  const auto peak = memory_peak(memory, "host_peak");
  ASSERT_TRUE(peak);
  EXPECT_DOUBLE_EQ(peak->low, 20);
  EXPECT_DOUBLE_EQ(peak->high, 30);
  EXPECT_FALSE(memory_peak(memory, "device_reserved_peak"));
}

}  // namespace
}  // namespace qfs::compare

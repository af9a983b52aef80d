// What people see while a sweep runs, on a terminal and in a log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cli/progress_printer.h"
#include "tests/support/plan_fakes.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMebibyte = int64_t{1} << 20;

struct Seen {
  std::vector<std::string> lines;
  std::vector<std::string> problems;
  std::vector<std::string> statuses;
  int64_t now_ns = 0;
};

class RecordingSink : public ProgressSink {
 public:
  RecordingSink(Seen& seen, bool terminal) : seen_(seen), terminal_(terminal) {}
  void line(std::string_view text) override { seen_.lines.emplace_back(text); }
  void problem(std::string_view text) override { seen_.problems.emplace_back(text); }
  void status(std::string_view text) override { seen_.statuses.emplace_back(text); }
  bool redraws() const override { return terminal_; }

 private:
  Seen& seen_;
  bool terminal_;
};

class Progress : public testing::Test {
 protected:
  Progress()
      : plan_(test::value_of(planning_(test::sweep_text(
            R"({"method": "lead"})", R"("grid": {"local_context": [128, 256]})")))) {}

  ProgressPrinter printer(bool terminal) {
    return ProgressPrinter(plan_, std::make_unique<RecordingSink>(seen_, terminal),
                           [this] { return seen_.now_ns; });
  }

  static run::CellOutcome complete() {
    run::CellOutcome outcome;
    outcome.complete = true;
    return outcome;
  }

  test::Planning planning_;
  plan::Plan plan_;
  Seen seen_;
};

TEST_F(Progress, ALogGetsALineACellWithItsFacts) {
  plan_.cells[0].host = plan::HostKind::tensor;
  ProgressPrinter progress = printer(false);
  progress.ahead(
      {.cells = 2, .cells_to_run = 2, .cells_to_measure = 0, .units_to_run = 6, .seconds = 12});
  progress.cell_started(plan_.cells[0], store::ResultKind::predict, 3);
  progress.unit_done(2, 40, 2 * kSecond, {.resident_bytes = 100 * kMebibyte});
  progress.unit_done(1, 20, 2 * kSecond, {.resident_bytes = 90 * kMebibyte});
  progress.cell_ended(plan_.cells[0], complete());
  ASSERT_EQ(seen_.lines.size(), 2U);
  EXPECT_EQ(seen_.lines[0], "2 cells: 2 to run (6 units), about 12 s");
  EXPECT_THAT(seen_.lines[1], HasSubstr("[1/2] lead local_context="));
  EXPECT_THAT(seen_.lines[1], HasSubstr("3 examples in 4.0 s, 15.0 tokens/s, 100 MiB"));
}

TEST_F(Progress, ExtractedWordsAreNoTokensASecond) {
  plan_.cells[0].host = plan::HostKind::light;
  ProgressPrinter progress = printer(false);
  progress.cell_started(plan_.cells[0], store::ResultKind::predict, 1);
  progress.unit_done(1, 40, kSecond, {});
  progress.cell_ended(plan_.cells[0], complete());
  EXPECT_THAT(seen_.lines.back(), testing::Not(HasSubstr("tokens/s")));
}

TEST_F(Progress, ALogGetsAHeartbeatInALongCell) {
  ProgressPrinter progress = printer(false);
  progress.ahead(
      {.cells = 2, .cells_to_run = 2, .cells_to_measure = 0, .units_to_run = 6, .seconds = 12});
  progress.cell_started(plan_.cells[0], store::ResultKind::predict, 3);
  seen_.now_ns += 10 * kSecond;
  progress.unit_done(1, 0, kSecond, {});
  EXPECT_EQ(seen_.lines.size(), 1U) << "ten seconds are no reason for a line";
  seen_.now_ns += 25 * kSecond;
  progress.unit_done(1, 0, kSecond, {});
  ASSERT_EQ(seen_.lines.size(), 2U);
  EXPECT_THAT(seen_.lines[1], HasSubstr("2/3 units"));
}

TEST_F(Progress, ATerminalIsRedrawnAtMostTenTimesASecond) {
  ProgressPrinter progress = printer(true);
  progress.ahead(
      {.cells = 2, .cells_to_run = 2, .cells_to_measure = 0, .units_to_run = 600, .seconds = 12});
  progress.cell_started(plan_.cells[0], store::ResultKind::predict, 600);
  const size_t before = seen_.statuses.size();
  for (int i = 0; i < 500; ++i) {
    seen_.now_ns += kSecond / 500;
    progress.unit_done(1, 1, 1, {});
  }
  EXPECT_EQ(seen_.statuses.size() - before, 10U);
  EXPECT_THAT(seen_.statuses.back(), HasSubstr(" left"));
}

TEST_F(Progress, RemainingTimeFollowsTheClockAndNotTheEstimate) {
  ProgressPrinter progress = printer(true);
  const plan::Estimator estimator;
  const double unit = estimator.remaining_seconds(plan_.cells[0], 1);
  progress.ahead({.cells = 1,
                  .cells_to_run = 1,
                  .cells_to_measure = 0,
                  .units_to_run = 4,
                  .seconds = 4 * unit,
                  .predict_seconds = {{"lead", 4 * unit}}});
  progress.cell_started(plan_.cells[0], store::ResultKind::predict, 4);
  seen_.now_ns += 30 * kSecond;
  progress.unit_done(1, 0, kSecond, {});
  EXPECT_THAT(seen_.statuses.back(), HasSubstr("1 min 30 s left")) << "three units of 30 s";
}

TEST_F(Progress, RemainingTimeOfAMethodFollowsItsOwnExamples) {
  ProgressPrinter progress = printer(true);
  const plan::Estimator estimator;
  const double unit = estimator.remaining_seconds(plan_.cells[0], 1);
  progress.ahead({.cells = 2,
                  .cells_to_run = 2,
                  .cells_to_measure = 0,
                  .units_to_run = 8,
                  .seconds = 8 * unit,
                  .predict_seconds = {{"lead", 4 * unit}, {"slow", 4 * unit}}});
  progress.cell_started(plan_.cells[0], store::ResultKind::predict, 4);
  seen_.now_ns += 4 * kSecond;
  progress.unit_done(4, 0, kSecond, {});
  EXPECT_THAT(seen_.statuses.back(), HasSubstr("4.0 s left")) << "nothing is known of the slow one";
  class Slow : public MethodSpec {
   public:
    explicit Slow(const MethodSpec& lead) : lead_(lead) {}
    std::string_view name() const override { return "slow"; }
    std::string_view doc() const override { return lead_.doc(); }
    int version() const override { return 1; }
    std::vector<std::string> layers(const Params&, const BackboneFacts&) const override {
      return {};
    }
    std::vector<ParamSpec> params() const override { return lead_.params(); }
    Needs needs(const Params& params) const override { return lead_.needs(params); }
    Cost cost(const Params& params, const DatasetStats& stats) const override {
      return lead_.cost(params, stats);
    }

   private:
    const MethodSpec& lead_;
  };
  plan::Cell slow = plan_.cells[0];
  slow.spec = std::make_shared<Slow>(*plan_.cells[0].spec);
  progress.cell_started(slow, store::ResultKind::predict, 1);
  seen_.now_ns += 60 * kSecond;
  progress.rows_done(1, 5, 60 * kSecond);
  EXPECT_THAT(seen_.statuses.back(), HasSubstr("0/1 units, 1 example in 1 min"));
  EXPECT_THAT(seen_.statuses.back(), HasSubstr("3 min 00 s left")) << "three rows of a minute each";
}

TEST_F(Progress, AContinuedTrainingIsTimedByItsOwnSteps) {
  ProgressPrinter progress = printer(true);
  progress.cell_started(plan_.cells[0], store::ResultKind::train, 0);
  for (int64_t step = 1; step <= 20; ++step) progress.trained({step, 100, {}});
  seen_.now_ns += 60 * kSecond;
  progress.trained({21, 100, {}});
  EXPECT_THAT(seen_.statuses.back(), HasSubstr("step 21/100, 1 h 19 min left"));
}

TEST_F(Progress, WhatEarlierRunsTookIsInTheFirstEstimate) {
  ProgressPrinter progress = printer(false);
  progress.ahead({.cells = 2,
                  .cells_to_run = 1,
                  .cells_to_measure = 0,
                  .units_to_run = 6,
                  .seconds = 12,
                  .predict_seconds = {{"endpoint", 12}},
                  .paces = {{"endpoint", {.estimated_s = 24, .taken_s = 4}}}});
  EXPECT_EQ(seen_.lines.back(), "2 cells: 1 to run (6 units), about 2.0 s");
}

TEST_F(Progress, FailuresSayWhatAndWhyAndAreShownWithQuietToo) {
  ProgressPrinter progress = printer(false);
  progress.ahead(
      {.cells = 2, .cells_to_run = 2, .cells_to_measure = 0, .units_to_run = 6, .seconds = 12});
  run::CellOutcome outcome;
  outcome.failure = store::FailureKind::oom_host;
  outcome.message = "more than 512 MiB";
  progress.cell_ended(plan_.cells[0], outcome);
  outcome.failure = store::FailureKind::signal;
  outcome.message = "signal 11";
  outcome.remembered = true;
  progress.cell_ended(plan_.cells[1], outcome);
  ASSERT_EQ(seen_.problems.size(), 2U);
  EXPECT_THAT(seen_.problems[0], HasSubstr("OOM: more than 512 MiB"));
  EXPECT_THAT(seen_.problems[1], HasSubstr("failed (earlier run): signal 11"));
}

TEST_F(Progress, ReusedCellsAreSaidToBeInTheStore) {
  ProgressPrinter progress = printer(false);
  progress.ahead(
      {.cells = 2, .cells_to_run = 0, .cells_to_measure = 0, .units_to_run = 0, .seconds = 0});
  run::CellOutcome outcome = complete();
  outcome.reused = true;
  progress.cell_ended(plan_.cells[0], outcome);
  EXPECT_EQ(seen_.lines[0], "2 cells: 0 to run (0 units)");
  EXPECT_THAT(seen_.lines[1], HasSubstr(": in the store"));
  EXPECT_THAT(seen_.problems, IsEmpty());
}

TEST_F(Progress, TheStatusLineIsRemovedAtTheEnd) {
  { ProgressPrinter progress = printer(true); }
  EXPECT_THAT(seen_.statuses, ElementsAre(""));
}

}  // namespace
}  // namespace qfs::cli

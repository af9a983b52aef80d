// ProgressPrinter: a sweep's progress for whoever watches: one line that is redrawn on a terminal
// (cells, examples, remaining time, tokens/s, memory), plain lines a cell elsewhere.
//
// Made by `sweep`, called by harness/run from the driver's thread. Writes to standard error through
// a sink that tests replace. Cannot fail.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harness/cli/cell_names.h"
#include "harness/core/clock.h"
#include "harness/plan/estimate.h"
#include "harness/run/progress.h"

namespace qfs::cli {

/// Where progress goes.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  virtual void line(std::string_view text) = 0;     ///< stays
  virtual void problem(std::string_view text) = 0;  ///< stays, also with --quiet
  virtual void status(std::string_view text) = 0;   ///< replaces the last status; "" removes it
  virtual bool redraws() const = 0;                 ///< whether `status` is shown at all
};

/// Standard error: a status line when it is a terminal, the log otherwise.
std::unique_ptr<ProgressSink> standard_progress_sink(bool quiet);

class ProgressPrinter final : public run::Progress {
 public:
  ProgressPrinter(const plan::Plan& plan, std::unique_ptr<ProgressSink> sink,
                  std::function<int64_t()> now_ns = monotonic_ns);
  ~ProgressPrinter() override;

  void ahead(const run::WorkAhead& work) override;
  void cell_started(const plan::Cell& cell, store::ResultKind kind, size_t units) override;
  void rows_done(size_t examples, int64_t tokens_out, int64_t ns) override;
  void unit_done(size_t examples, int64_t tokens_out, int64_t ns,
                 const ProcessMemory& host) override;
  void trained(const TrainingPoint& point) override;
  void cell_ended(const plan::Cell& cell, const run::CellOutcome& outcome) override;
  void note(std::string_view text) override;

 private:
  void count(size_t examples, int64_t tokens_out, int64_t ns);
  void show_now_and_then();
  std::string facts_of_cell() const;
  std::string status_text() const;
  std::string curve_text() const;
  std::string head_of(const plan::Cell& cell, store::ResultKind kind) const;
  double seconds_left() const;

  CellNames names_;
  std::unique_ptr<ProgressSink> sink_;
  std::function<int64_t()> now_ns_;
  plan::Estimator estimator_;
  run::WorkAhead work_;
  size_t cells_ended_ = 0;
  int64_t started_ns_ = 0;
  int64_t shown_ns_ = 0;                    ///< when a status or heartbeat line was written last
  std::map<std::string, run::Pace> paces_;  ///< of this run's predictions, by method
  int64_t counted_ns_ = 0;                  ///< until when time is in a pace

  // The current cell's share of them.
  run::Pace* pace_ = nullptr;      ///< none while measuring
  double example_estimate_s_ = 0;  ///< of one of its examples

  // The current cell.
  std::string name_;
  store::ResultKind kind_ = store::ResultKind::predict;
  bool generates_ = false;  ///< extracting is not counted in tokens a second
  size_t units_ = 0;
  size_t units_done_ = 0;
  size_t examples_ = 0;
  int64_t tokens_ = 0;
  int64_t host_ns_ = 0;
  int64_t host_bytes_ = 0;
  std::optional<TrainingPoint> first_point_;  ///< of this run, when its cell trains
  int64_t first_point_ns_ = 0;
  bool repeated_ = true;  ///< no point was computed in this run yet
  TrainingPoint point_;   ///< the latest
  int64_t point_ns_ = 0;
};

}  // namespace qfs::cli

// Progress: what a running sweep tells whoever watches. Implemented by the command line (a status
// line on a terminal, plain lines elsewhere) and by tests.
//
// Called from the driver's thread only, between units and separate rows; implementations must be
// quick and cannot fail.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "harness/core/child_process.h"
#include "harness/plan/plan.h"
#include "harness/store/states.h"

namespace qfs::run {

/// Predicted seconds of work that is done, and what it took.
struct Pace {
  double estimated_s = 0;
  double taken_s = 0;
};

/// What has to be done, once, before the first cell.
struct WorkAhead {
  size_t cells = 0;         ///< of the plan
  size_t cells_to_run = 0;  ///< with units missing (predict)
  size_t cells_to_measure = 0;
  size_t units_to_run = 0;                        ///< over all cells to run
  double seconds = 0;                             ///< estimate
  std::map<std::string, double> predict_seconds;  ///< of them, predictions by method
  std::map<std::string, Pace> paces;              ///< of earlier runs' predictions, by method
};

/// How one cell ended in this run.
struct CellOutcome {
  store::ResultKind kind = store::ResultKind::predict;
  bool reused = false;  ///< complete before this run
  bool complete = false;
  bool remembered = false;  ///< a failure of an earlier run that is not retried
  store::FailureKind failure = store::FailureKind::none;
  std::string message;   ///< of the failure
  std::string log;       ///< what its host wrote; empty where nothing, or not known
  size_t conflicts = 0;  ///< outputs that differ from stored ones
};

class Progress {
 public:
  virtual ~Progress() = default;
  virtual void ahead(const WorkAhead& work) = 0;
  virtual void cell_started(const plan::Cell& cell, store::ResultKind kind, size_t units) = 0;
  /// Rows of a unit that are stored before it ends; `ns` since the last ones. `unit_done` does not
  /// count them again.
  virtual void rows_done(size_t examples, int64_t tokens_out, int64_t ns) = 0;
  /// `examples` and `tokens_out` of the unit; `ns` inside the host; `host`: at its end.
  virtual void unit_done(size_t examples, int64_t tokens_out, int64_t ns,
                         const ProcessMemory& host) = 0;
  /// A point of the curve of the cell that trains.
  virtual void trained(const TrainingPoint& point) = 0;
  virtual void cell_ended(const plan::Cell& cell, const CellOutcome& outcome) = 0;
  virtual void note(std::string_view text) = 0;
};

}  // namespace qfs::run

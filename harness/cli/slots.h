// Slots: a sweep by several workers side by side on one machine, each with its own share of the
// GPUs and a store of its own, which are merged into the sweep's when the workers have ended.
//
// Used by `sweep --slots`, before it opens its store. Not thread-safe. Errors are those of files
// and stores; a worker that dies leaves its cells to the sweep that follows, with a warning.
#pragma once

#include <cstddef>
#include <string>

#include "harness/api/result.h"
#include "harness/cli/sweep_input.h"

namespace qfs::cli {

struct SlotsOutcome {
  int interrupted_by = 0;  ///< signal number; what was done is merged all the same
};

/// Runs what the store at `store_path` lacks of the predictions; what a sweep times is left to it.
Result<SlotsOutcome> run_in_slots(const plan::Plan& plan, const std::string& store_path,
                                  const run::RunOptions& run, const SweepOptions& sweep,
                                  size_t slots);

}  // namespace qfs::cli

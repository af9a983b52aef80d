// `list cells --watch`: how far a run is, told from another terminal until it ends. Reads the store
// and nothing else, so it neither waits for the run nor disturbs it; not thread-safe.
#pragma once

#include <string>

#include "harness/api/result.h"
#include "harness/cli/commands.h"

namespace qfs::cli {

/// `run` as reports::find_sweep takes it. `ok` when all its cells are complete in the end,
/// `incomplete` when some are not: the run failed there, was stopped or was killed.
Result<ExitCode> watch_cells(const GlobalOptions& global, const std::string& run);

}  // namespace qfs::cli

// What a run comes to in the end: its exit code, and a warning for each thing that is left to do.
// Writes to the log; cannot fail.
#pragma once

#include <string>

#include "harness/cli/exit_codes.h"
#include "harness/plan/plan.h"
#include "harness/run/run.h"

namespace qfs::cli {

/// Of a run that came to its end.
ExitCode conclusion(const plan::Plan& plan, const run::RunSummary& summary);

/// Of one that a signal stopped; what is done is in the store.
ExitCode interrupted(const run::RunSummary& summary, const std::string& store_path);

}  // namespace qfs::cli

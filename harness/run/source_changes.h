// Source changes: outputs that a sweep reuses although the code that makes them has changed since,
// under the same versions. A warning, never a reason to compute anew (methods/families.h).
//
// Used by run_plan after the survey. Outputs of external methods are left out: their files are part
// of the cell's id. Errors come from the store.
#pragma once

#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/run/cell_run.h"
#include "harness/run/survey.h"

namespace qfs::run {

/// One line a method, in the plan's order.
Result<std::vector<std::string>> source_changes(const RunContext& context,
                                                const std::vector<CellState>& states);

}  // namespace qfs::run

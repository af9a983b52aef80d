// Parameters of a sweep under their own names: what other programs call them is replaced before
// anything is stored or compared. Used by harness/config only; thread-safe.
#pragma once

#include "harness/api/experiment.h"
#include "harness/api/result.h"
#include "harness/config/load.h"

namespace qfs::config {

/// Renames in methods, grid, rules and report. Unknown methods and parameters are left for the
/// plan. `invalid_argument` at the pointer for a name that means something else, and for one that
/// is given under both names.
Status use_own_names(Experiment& experiment, const OwnNames& own);

}  // namespace qfs::config

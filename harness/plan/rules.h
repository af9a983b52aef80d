// The `exclude` and `include` rules of a sweep, applied to the drafts of its grid. Exclusions come
// first; what is included is never excluded. Used by expand. Thread-safe; errors are at the rule.
#pragma once

#include <span>
#include <vector>

#include "harness/plan/expand.h"

namespace qfs::plan {

/// Removes the drafts that meet every condition of a rule. A rule that names something unknown, or
/// that removes nothing, is an error.
Status apply_exclusions(const Experiment& experiment, std::span<const MethodRow> rows,
                        std::vector<Draft>& drafts);

/// Appends one combination for each rule: its parameters in place of the entry's, defaults for the
/// rest, for the method, data set and seed that the rule names, else for all of the sweep's.
/// Without a method the rule is for those that have all of its parameters.
Status apply_inclusions(const Experiment& experiment, std::span<const MethodRow> rows,
                        std::vector<Draft>& drafts);

}  // namespace qfs::plan

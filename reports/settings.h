// Checks of what a table is asked for, before anything is computed or read: axes and values must be
// names that exist. Also what is shown when nothing was asked for.
//
// Called by build_table, and by `sweep` and `plan` on the sweep file, so that a misspelt value is
// not found after hours of work. Pure functions; thread-safe. Errors name the nearest valid name.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/api/experiment.h"
#include "harness/api/result.h"

namespace qfs::reports {

/// Row and column axes are among `known`, or kValuesAxis among the columns, and none is named twice
/// (`invalid_argument`).
Status check_axes(const TableSettings& settings, std::span<const std::string> known);

/// Values are built in or columns of a metric, and none is named twice (`not_found`,
/// `invalid_argument`). Where no column is known, every name with a dot is
/// taken for one.
Status check_values(const TableSettings& settings, std::span<const std::string> columns);

/// F measures of the columns (all of them where a metric has none), then memory and speed where
/// they are `measured`.
std::vector<std::string> default_values(std::span<const std::string> columns, bool measured);

}  // namespace qfs::reports

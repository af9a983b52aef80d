// Cells without a number: why a result has none, in the words of a table. Private to reports.
// Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "reports/sweep_facts.h"
#include "reports/table.h"

namespace qfs::reports {

/// "incomplete (12/20)"; without the numbers when `expected` is 0.
TableCell incomplete_cell(int64_t done, int64_t expected);

/// What a place shows instead of qualities; std::nullopt when its predictions are complete.
std::optional<TableCell> predict_trouble(const PlaceFacts& place);

/// What a place shows instead of speed and memory: the trouble of its measurement, that of its
/// predictions where these kept it from being measured, or "not reported" where the sweep does not
/// measure.
std::optional<TableCell> measure_trouble(const PlaceFacts& place);

}  // namespace qfs::reports

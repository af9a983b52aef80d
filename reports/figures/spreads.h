// What figures draw around a number, and what it means. Private to reports/figures. Pure;
// thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/table.h"

namespace qfs::reports {

/// Of a cell with a number, times the value's scale: mean ± standard deviation of several seeds,
/// else the cell's spread, else none.
std::optional<Spread> drawn_spread(const TableValue& value, const TableCell& cell);

/// "95 % intervals; mean ± standard deviation of the seeds": what is drawn around these cells'
/// numbers; empty where nothing is.
std::string spread_words(const std::vector<const TableCell*>& cells);

}  // namespace qfs::reports

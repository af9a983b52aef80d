// Grid: one printed table of a report, columns with the labels of every level of their heading. A
// report is one grid with the values side by side, or one a value.
//
// Used by the writers for people. Pure function; thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reports/table.h"

namespace qfs::reports {

struct GridColumn {
  size_t column = 0;  ///< of the table
  size_t value = 0;
  std::vector<std::string> heading;  ///< a label a level; "–" where an axis does not apply
};

struct Grid {
  std::optional<size_t> value;      ///< the one that it shows, named in no heading
  std::vector<std::string> levels;  ///< names of the column axes and of the values' level
  std::vector<GridColumn> columns;
};

/// In the order in which they are printed, columns from left to right.
std::vector<Grid> grids_of(const Table& table);

}  // namespace qfs::reports

#include "reports/grid.h"

#include <algorithm>

#include "reports/format.h"

namespace qfs::reports {
namespace {

GridColumn grid_column(const Table& table, size_t column, size_t value, bool titled) {
  GridColumn made{column, value, shown_labels(table.column_axes, table.columns[column])};
  if (titled) {
    made.heading.insert(made.heading.begin() + static_cast<std::ptrdiff_t>(*table.values_level),
                        table.values[value].title);
  }
  return made;
}

Grid grid_of_value(const Table& table, size_t value) {
  Grid grid{value, table.column_axes, {}};
  for (size_t column = 0; column < table.columns.size(); ++column) {
    grid.columns.push_back(grid_column(table, column, value, false));
  }
  return grid;
}

/// Columns are in the order of their labels, so those that agree above the values' level are
/// neighbours: each such run is repeated for every value.
Grid grid_of_all(const Table& table) {
  const size_t level = *table.values_level;
  Grid grid{std::nullopt, table.column_axes, {}};
  grid.levels.insert(grid.levels.begin() + static_cast<std::ptrdiff_t>(level), "value");
  const auto above = [&](size_t column) {
    const std::vector<std::string>& labels = table.columns[column].labels;
    return std::vector(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(level));
  };
  for (size_t begin = 0; begin < table.columns.size();) {
    size_t end = begin + 1;
    while (end < table.columns.size() && above(end) == above(begin)) ++end;
    for (size_t value = 0; value < table.values.size(); ++value) {
      for (size_t column = begin; column < end; ++column) {
        grid.columns.push_back(grid_column(table, column, value, true));
      }
    }
    begin = end;
  }
  return grid;
}

}  // namespace

std::vector<Grid> grids_of(const Table& table) {
  if (table.values_level) return {grid_of_all(table)};
  std::vector<Grid> grids;
  for (size_t value = 0; value < table.values.size(); ++value) {
    grids.push_back(grid_of_value(table, value));
  }
  return grids;
}

}  // namespace qfs::reports

// The axes of a table as figures read them: which has numbers, and what the other labels of a cell
// say. Private to reports/figures. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "reports/table.h"

namespace qfs::reports {

/// One of the axes of a table, of its columns or of its rows.
struct FigureAxis {
  bool of_columns = false;
  size_t level = 0;

  const std::string& name(const Table& table) const;
  const std::string& label(const Table& table, size_t row, size_t column) const;
};

/// The different numbers on an axis; none where a label is no number. An empty label says that the
/// axis does not apply.
std::set<double> numbers_on(const Table& table, const FigureAxis& axis);

/// The last of the columns whose labels are two or more numbers, else such an axis of the rows; the
/// seed is none.
std::optional<FigureAxis> numeric_axis(const Table& table);

/// "bm25, r=8": the labels of a row and a column but for the numeric axis and the data set.
std::string series_name(const Table& table, const std::optional<FigureAxis>& axis, size_t row,
                        size_t column);

/// Of a row and a column; empty where no axis is the data set.
std::string dataset_of(const Table& table, size_t row, size_t column);

}  // namespace qfs::reports

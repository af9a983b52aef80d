#include "reports/figures/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harness/core/whole_number.h"
#include "reports/format.h"

namespace qfs::reports {

const std::string& FigureAxis::name(const Table& table) const {
  return of_columns ? table.column_axes[level] : table.row_axes[level];
}

const std::string& FigureAxis::label(const Table& table, size_t row, size_t column) const {
  return of_columns ? table.columns[column].labels[level] : table.rows[row].labels[level];
}

std::set<double> numbers_on(const Table& table, const FigureAxis& axis) {
  std::set<double> numbers;
  for (const AxisEntry& entry : axis.of_columns ? table.columns : table.rows) {
    const std::string& label = entry.labels[axis.level];
    const std::optional<double> number = whole_number<double>(label);
    if (!number && !label.empty()) return {};
    if (number) numbers.insert(*number);
  }
  return numbers;
}

std::optional<FigureAxis> numeric_axis(const Table& table) {
  for (const bool of_columns : {true, false}) {
    const std::vector<std::string>& names = of_columns ? table.column_axes : table.row_axes;
    for (size_t level = names.size(); level-- > 0;) {
      const FigureAxis axis{of_columns, level};
      if (names[level] != "seed" && numbers_on(table, axis).size() > 1) return axis;
    }
  }
  return std::nullopt;
}

std::string series_name(const Table& table, const std::optional<FigureAxis>& axis, size_t row,
                        size_t column) {
  std::vector<std::string> names;
  const auto add = [&](bool of_columns, const std::vector<std::string>& axes,
                       const AxisEntry& entry) {
    const std::vector<std::string> labels = shown_labels(axes, entry);
    for (size_t i = 0; i < axes.size(); ++i) {
      const bool numeric = axis && of_columns == axis->of_columns && i == axis->level;
      if (numeric || axes[i] == "dataset" || entry.labels[i].empty()) continue;
      names.push_back(labels[i]);
    }
  };
  add(false, table.row_axes, table.rows[row]);
  add(true, table.column_axes, table.columns[column]);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string dataset_of(const Table& table, size_t row, size_t column) {
  for (size_t i = 0; i < table.row_axes.size(); ++i) {
    if (table.row_axes[i] == "dataset") return table.rows[row].labels[i];
  }
  for (size_t i = 0; i < table.column_axes.size(); ++i) {
    if (table.column_axes[i] == "dataset") return table.columns[column].labels[i];
  }
  return "";
}

}  // namespace qfs::reports

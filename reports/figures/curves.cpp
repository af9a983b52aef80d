#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/core/whole_number.h"
#include "reports/figures/axes.h"
#include "reports/figures/figure.h"
#include "reports/figures/spreads.h"
#include "reports/format.h"

namespace qfs::reports {
namespace {

FigurePoint point_of(const TableValue& value, const TableCell& cell) {
  FigurePoint point;
  if (cell.status != CellStatus::ok) {
    point.trouble = behind_number(value, cell);
    return point;
  }
  point.y = cell.value * value.scale;
  point.spread = drawn_spread(value, cell);
  return point;
}

/// One that has a value or a trouble; beside differences no score, which is of another scale.
bool in_figure(const Table& table, const TableCell& cell) {
  if (cell.status == CellStatus::ok) {
    return cell.difference || !table.against || !table.against->differences;
  }
  return cell.status != CellStatus::absent && cell.status != CellStatus::not_reported &&
         cell.status != CellStatus::not_applicable;
}

std::vector<std::string> notes_of(const Table& table) {
  std::vector<const TableCell*> drawn;
  for (const TableCell& cell : table.cells) {
    if (cell.status == CellStatus::ok && in_figure(table, cell)) drawn.push_back(&cell);
  }
  std::vector<std::string> notes;
  const std::string bands = spread_words(drawn);
  if (!bands.empty()) notes.push_back("bands: " + bands);
  if (table.against && table.against->differences) notes.push_back(table.mark_notes.front());
  if (std::ranges::any_of(drawn, &TableCell::oracle)) {
    notes.emplace_back("† reads references or evidence: an upper bound, not a competitor");
  }
  return notes;
}

/// Lines of one value, by data set.
class Panels {
 public:
  Panels(const Table& table, const FigureAxis& axis, Figure& figure)
      : table_(table), axis_(axis), figure_(figure) {}

  void add(size_t value) {
    std::map<std::string, size_t> panels;
    for (size_t row = 0; row < table_.rows.size(); ++row) {
      for (size_t column = 0; column < table_.columns.size(); ++column) {
        const TableCell& cell = table_.cell(row, column, value);
        if (!in_figure(table_, cell)) continue;
        const std::string dataset = dataset_of(table_, row, column);
        const auto [panel, is_new] = panels.try_emplace(dataset, figure_.panels.size());
        if (is_new) {
          const std::string& title = table_.values[value].title;
          figure_.panels.push_back({dataset.empty() ? title : title + ", " + dataset, {}});
        }
        FigureLine& line = line_of(figure_.panels[panel->second], row, column, cell.oracle);
        FigurePoint point = point_of(table_.values[value], cell);
        if (const auto x = whole_number<double>(axis_.label(table_, row, column))) {
          point.x = *x;
          line.points.push_back(std::move(point));
        } else {
          line.constant = point.y;
          line.trouble = std::move(point.trouble);
        }
      }
    }
  }

 private:
  FigureLine& line_of(FigurePanel& panel, size_t row, size_t column, bool oracle) {
    const size_t series = series_of(row, column, oracle);
    const auto line = std::ranges::find(panel.lines, series, &FigureLine::series);
    if (line != panel.lines.end()) return *line;
    return panel.lines.emplace_back(FigureLine{.series = series});
  }

  size_t series_of(size_t row, size_t column, bool oracle) {
    const std::string name = series_name(table_, axis_, row, column);
    const auto known = std::ranges::find(figure_.series, name, &FigureSeries::name);
    if (known != figure_.series.end()) return static_cast<size_t>(known - figure_.series.begin());
    figure_.series.push_back({name, oracle});
    return figure_.series.size() - 1;
  }

  const Table& table_;
  const FigureAxis& axis_;
  Figure& figure_;
};

}  // namespace

Result<Figure> curves_of(const Table& table) {
  const std::optional<FigureAxis> axis = numeric_axis(table);
  if (!axis) {
    std::vector<std::string> names = table.row_axes;
    names.insert(names.end(), table.column_axes.begin(), table.column_axes.end());
    return invalid_argument(
        fmt::format("a figure needs an axis with two or more numbers, and this table has none: {}; "
                    "name one with --columns, e.g. --columns local_context",
                    fmt::join(names, ", ")));
  }
  Figure figure;
  figure.title = table.name;
  figure.axis = axis->name(table);
  figure.differences = table.against && table.against->differences;
  const std::set<double> numbers = numbers_on(table, *axis);
  figure.xs.assign(numbers.begin(), numbers.end());
  Panels panels(table, *axis, figure);
  for (size_t value = 0; value < table.values.size(); ++value) panels.add(value);
  if (figure.series.size() > kMostLines) {
    return invalid_argument(
        fmt::format("{} lines in one figure, of which {} can be told apart; --filter leaves fewer",
                    figure.series.size(), kMostLines));
  }
  for (FigurePanel& panel : figure.panels) {
    for (FigureLine& line : panel.lines) {
      std::ranges::stable_sort(line.points, {}, &FigurePoint::x);
    }
  }
  figure.notes = notes_of(table);
  figure.signature = table.signature + (table.store.empty() ? "" : " | store " + table.store);
  return figure;
}

}  // namespace qfs::reports

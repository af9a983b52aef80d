#include "reports/figures/front.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/figures/axes.h"
#include "reports/figures/figure.h"
#include "reports/figures/spreads.h"

namespace qfs::reports {
namespace {

/// What two points share whose numbers may be compared in both values.
std::string comparable_in(const TableCell& paid, const TableCell& got) {
  if (paid.comparable.empty() || got.comparable.empty()) return "";
  return paid.comparable + "\n" + got.comparable;
}

/// Whether `a` is as good as `b` in both and better in one.
bool beats(const FrontPanel& panel, const FrontPoint& a, const FrontPoint& b) {
  const auto gain = [](Better better, double x, double y) {
    return better == Better::higher ? x - y : y - x;
  };
  const double in_x = gain(panel.x_better, a.x, b.x);
  const double in_y = gain(panel.y_better, a.y, b.y);
  return in_x >= 0 && in_y >= 0 && (in_x > 0 || in_y > 0);
}

void mark_front(FrontPanel& panel) {
  for (FrontPoint& point : panel.points) {
    const auto is_beaten_by = [&](const FrontPoint& other) {
      return !other.oracle && other.comparable == point.comparable && beats(panel, other, point);
    };
    point.best = !point.oracle && !point.comparable.empty() &&
                 std::ranges::none_of(panel.points, is_beaten_by);
  }
}

/// Adds the panels of one score over one other value, and what they show to `drawn`.
void add_panels(const Table& table, size_t cost, size_t quality, Front& front,
                std::vector<const TableCell*>& drawn) {
  const std::optional<FigureAxis> axis = numeric_axis(table);
  const TableValue& x = table.values[cost];
  const TableValue& y = table.values[quality];
  std::map<std::string, FrontPanel> panels;
  std::vector<std::string> order;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    for (size_t column = 0; column < table.columns.size(); ++column) {
      const TableCell& paid = table.cell(row, column, cost);
      const TableCell& got = table.cell(row, column, quality);
      if (paid.status != CellStatus::ok || got.status != CellStatus::ok) continue;
      drawn.insert(drawn.end(), {&paid, &got});
      const std::string dataset = dataset_of(table, row, column);
      if (!panels.contains(dataset)) {
        order.push_back(dataset);
        panels[dataset] = {dataset, x.title, y.title, x.better, y.better, {}};
      }
      const std::string name = series_name(table, axis, row, column);
      const auto known = std::ranges::find(front.series, name);
      const auto series = static_cast<size_t>(known - front.series.begin());
      if (known == front.series.end()) front.series.push_back(name);
      panels[dataset].points.push_back({series, axis ? axis->label(table, row, column) : "",
                                        paid.value * x.scale, got.value * y.scale,
                                        drawn_spread(x, paid), drawn_spread(y, got),
                                        comparable_in(paid, got), got.oracle, false});
    }
  }
  for (const std::string& dataset : order) {
    mark_front(panels[dataset]);
    front.panels.push_back(std::move(panels[dataset]));
  }
}

/// Rows of which no cell has both values of a panel.
std::vector<std::string> rows_without_points(const Table& table, const Front& front) {
  const std::optional<FigureAxis> axis = numeric_axis(table);
  std::vector<std::string> names;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    for (size_t column = 0; column < table.columns.size(); ++column) {
      std::string name = series_name(table, axis, row, column);
      const bool known =
          std::ranges::count(front.series, name) + std::ranges::count(names, name) > 0;
      if (!known) names.push_back(std::move(name));
    }
  }
  return names;
}

}  // namespace

Result<Front> fronts_of(const Table& table) {
  if (table.against && table.against->differences) {
    return invalid_argument("a front is of scores, and --minus shows differences in their place");
  }
  Front front;
  std::vector<const TableCell*> drawn;
  front.title = table.name;
  for (size_t quality = 0; quality < table.values.size(); ++quality) {
    if (table.values[quality].group != ValueGroup::quality) continue;
    if (!has_direction(table.values[quality].better)) continue;
    for (size_t cost = 0; cost < table.values.size(); ++cost) {
      if (table.values[cost].group == ValueGroup::quality) continue;
      if (has_direction(table.values[cost].better)) add_panels(table, cost, quality, front, drawn);
    }
  }
  if (front.panels.empty()) {
    return invalid_argument(
        "a front needs cells with a score and a value of speed, memory or cost, e.g. --values "
        "rouge1.f,peak_memory,tokens_per_second");
  }
  if (front.series.size() > kMostLines) {
    return invalid_argument(
        fmt::format("{} rows in one figure, of which {} can be told apart; --filter leaves fewer",
                    front.series.size(), kMostLines));
  }
  front.notes = {"the line joins what nothing else beats in both; its ends are open"};
  if (const std::string bars = spread_words(drawn); !bars.empty()) {
    front.notes.push_back("bars: " + bars);
  }
  const auto competes_apart = [](const FrontPanel& panel) {
    return std::ranges::any_of(panel.points, [&](const FrontPoint& point) {
      return point.comparable != panel.points.front().comparable;
    });
  };
  if (std::ranges::any_of(front.panels, competes_apart)) {
    front.notes.emplace_back(
        "numbers of other machines, examples or metrics do not compete: a line each");
  }
  const auto drawn_oracle = [](const FrontPanel& panel) {
    return std::ranges::any_of(panel.points, &FrontPoint::oracle);
  };
  if (std::ranges::any_of(front.panels, drawn_oracle)) {
    front.notes.emplace_back("† reads references or evidence, and is not on the line");
  }
  if (const auto names = rows_without_points(table, front); !names.empty()) {
    front.notes.push_back(
        fmt::format("not drawn, for want of a value: {}", fmt::join(names, "; ")));
  }
  front.signature = table.signature + (table.store.empty() ? "" : " | store " + table.store);
  return front;
}

}  // namespace qfs::reports

#include "reports/figures/front.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/figures/axes.h"
#include "reports/figures/figure.h"

namespace qfs::reports {
namespace {

bool has_direction(const TableValue& value) {
  return value.better == Better::higher || value.better == Better::lower;
}

std::optional<Spread> scaled_spread(const TableValue& value, const TableCell& cell) {
  if (!cell.seeds.empty()) {
    return Spread{(cell.value - cell.deviation) * value.scale,
                  (cell.value + cell.deviation) * value.scale, SpreadKind::interval};
  }
  if (!cell.spread) return std::nullopt;
  return Spread{cell.spread->low * value.scale, cell.spread->high * value.scale, cell.spread->kind};
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
    point.best = !point.oracle && std::ranges::none_of(panel.points, [&](const FrontPoint& other) {
      return !other.oracle && beats(panel, other, point);
    });
  }
}

/// Adds the panels of one score over one other value.
void add_panels(const Table& table, size_t cost, size_t quality, Front& front) {
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
                                        scaled_spread(x, paid), scaled_spread(y, got),
                                        table.rows[row].oracle, false});
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
  front.title = table.name;
  for (size_t quality = 0; quality < table.values.size(); ++quality) {
    if (table.values[quality].group != ValueGroup::quality) continue;
    if (!has_direction(table.values[quality])) continue;
    for (size_t cost = 0; cost < table.values.size(); ++cost) {
      if (table.values[cost].group == ValueGroup::quality) continue;
      if (has_direction(table.values[cost])) add_panels(table, cost, quality, front);
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
  front.notes = {
      "the line joins what nothing else beats in both; its ends are open. Bars: 95 % intervals, or "
      "smallest to largest"};
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

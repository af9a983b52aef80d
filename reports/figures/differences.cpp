#include "reports/figures/differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/api/metric_columns.h"

namespace qfs::reports {
namespace {

using compare::ComparedColumn;
using compare::Comparison;

DifferenceKind kind_of(const ComparedColumn& column) {
  const double difference = column.difference.difference;
  if (column.p_holm >= compare::kLevel || difference == 0) return DifferenceKind::not_shown;
  if (!has_direction(column.better)) return DifferenceKind::differs;
  const bool gain = (difference > 0) == (column.better == Better::higher);
  return gain ? DifferenceKind::better : DifferenceKind::worse;
}

DifferenceLine line_of(const ComparedColumn& column, const std::string& name) {
  const double scale = table_scale(column.name);
  DifferenceLine line;
  line.name = name;
  line.difference = column.difference.difference * scale;
  const metrics::Interval& interval = column.difference.interval;
  if (interval.available()) line.interval = Spread{interval.low * scale, interval.high * scale};
  if (column.decision && has_direction(column.better)) {
    const double sign = column.better == Better::higher ? -1 : 1;
    line.margin = sign * column.decision->margin.size * scale;
  }
  line.p_holm = column.p_holm;
  line.higher = column.higher;
  line.equal = column.equal;
  line.lower = column.lower;
  line.kind = kind_of(column);
  return line;
}

/// `metric` where several have the column, else empty.
DifferencePanel& panel_of(Differences& differences, const std::string& column,
                          const std::string& metric) {
  const bool share = is_share(column);
  const std::string title =
      column + (share ? " × 100" : "") + (metric.empty() ? "" : ", " + metric);
  const auto known = std::ranges::find(differences.panels, title, &DifferencePanel::title);
  if (known != differences.panels.end()) return *known;
  return differences.panels.emplace_back(DifferencePanel{title, share ? 2 : 4, {}});
}

void add_notes(Differences& differences, const std::set<std::string>& units) {
  const auto any = [&](const auto& holds) {
    return std::ranges::any_of(differences.panels, [&](const DifferencePanel& panel) {
      return std::ranges::any_of(panel.lines, holds);
    });
  };
  if (any([](const DifferenceLine& line) { return line.interval.has_value(); })) {
    differences.notes.push_back(
        fmt::format("Bars: 95 % intervals, resampled by {}.", fmt::join(units, " or ")));
  }
  if (any([](const DifferenceLine& line) { return !line.interval; })) {
    differences.notes.push_back(fmt::format("No bar: fewer than {} {}s, too few for an interval.",
                                            metrics::kMinimumClusters, fmt::join(units, "s or ")));
  }
  if (any([](const DifferenceLine& line) { return line.margin.has_value(); })) {
    differences.notes.emplace_back("Dashes: the margin that was asked for.");
  }
  differences.notes.push_back(
      fmt::format("Shown: p < {} of the randomisation test, adjusted after Holm over all lines.",
                  compare::kLevel));
}

}  // namespace

Result<Differences> differences_of(const compare::Outcome& outcome) {
  Differences differences;
  size_t lines = 0;
  std::set<std::string> units;
  std::set<std::string> signatures;
  std::set<std::pair<std::string, std::string>> pairs;
  std::map<std::string, std::set<std::string>> metrics_of;  // of each column
  for (const Comparison& comparison : outcome.comparisons) {
    pairs.emplace(comparison.a, comparison.b);
    for (const ComparedColumn& column : comparison.columns) {
      metrics_of[column.name].insert(comparison.metric);
    }
  }
  for (const Comparison& comparison : outcome.comparisons) {
    units.insert(comparison.unit);
    signatures.insert(comparison.signature);
    const std::string& name = comparison.cell.empty() ? comparison.b : comparison.cell;
    for (const ComparedColumn& column : comparison.columns) {
      const bool shared = metrics_of[column.name].size() > 1;
      panel_of(differences, column.name, shared ? comparison.metric : "")
          .lines.push_back(line_of(column, name));
      ++lines;
    }
  }
  if (lines == 0) return invalid_argument("--svg: nothing was compared, so there is no picture");
  if (lines > kMostDifferences) {
    return invalid_argument(
        fmt::format("--svg: {} differences, and a picture shows at most {}; choose columns with "
                    "--values, or cells with STORE#CONDITIONS",
                    lines, kMostDifferences));
  }
  differences.title = pairs.size() == 1
                          ? fmt::format("{} minus {}", pairs.begin()->second, pairs.begin()->first)
                          : "B minus A";
  add_notes(differences, units);
  differences.signature = fmt::format("{}; {}; {}", fmt::join(signatures, "; "),
                                      compare::interval_signature(), compare::test_signature());
  return differences;
}

}  // namespace qfs::reports

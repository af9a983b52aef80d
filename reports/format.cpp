#include "reports/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

namespace qfs::reports {
namespace {

constexpr const char* kNone = "–";

std::string with_detail(std::string text, const std::string& detail) {
  return detail.empty() ? text : text + " (" + detail + ")";
}

std::string spread_text(const TableValue& value, const TableCell& cell) {
  std::string text;
  if (!cell.seeds.empty()) {
    text += fmt::format(" ± {:.{}f}", cell.deviation * value.scale, value.decimals);
  } else if (cell.spread && cell.spread->kind == SpreadKind::interval) {
    text +=
        fmt::format(" [{:.{}f}, {:.{}f}]", cell.spread->low * value.scale, value.spread_decimals,
                    cell.spread->high * value.scale, value.spread_decimals);
  } else if (cell.spread && cell.n > 1) {
    text += fmt::format(" ({:.{}f}–{:.{}f})", cell.spread->low * value.scale, value.spread_decimals,
                        cell.spread->high * value.scale, value.spread_decimals);
  } else if (!cell.spread && cell.clusters >= 0) {
    text +=
        fmt::format(" (n/a: {} {})", cell.clusters, cell.clusters == 1 ? "cluster" : "clusters");
  }
  if (cell.empty > 0) text += fmt::format(" ({}/{} empty)", cell.empty, cell.n);
  return with_detail(std::move(text), cell.detail);
}

}  // namespace

std::string number_text(const TableValue& value, double number) {
  return fmt::format("{:.{}f}", number * value.scale, value.decimals);
}

CellText shown_text(const Table& table, size_t row, size_t column, size_t value) {
  const TableValue& how = table.values[value];
  const TableCell& cell = table.cell(row, column, value);
  if (cell.status != CellStatus::ok) return {"", behind_number(how, cell)};
  if (table.against && table.against->differences && cell.untested) return {"", kNone};
  if (!table.against || !table.against->differences || !cell.tested) {
    return {number_text(how, cell.value), behind_number(how, cell)};
  }
  const TestedDifference& tested = *cell.tested;
  std::string behind;
  if (tested.interval) {
    behind =
        fmt::format(" [{:.{}f}, {:.{}f}]", 0 - tested.interval->high * how.scale,
                    how.spread_decimals, 0 - tested.interval->low * how.scale, how.spread_decimals);
  }
  return {fmt::format("{:+.{}f}", 0 - tested.difference * how.scale, how.decimals),
          behind + fmt::format(" (p {:.2g})", tested.p_holm)};
}

std::string behind_number(const TableValue& value, const TableCell& cell) {
  switch (cell.status) {
    case CellStatus::ok:
      return spread_text(value, cell);
    case CellStatus::oom:
      return cell.detail == "device" || cell.detail == "host" ? "OOM"
                                                              : with_detail("OOM", cell.detail);
    case CellStatus::timeout:
      return with_detail("timeout", cell.detail);
    case CellStatus::failed:
      return with_detail("failed", cell.detail);
    case CellStatus::incomplete:
      return with_detail("incomplete", cell.detail);
    case CellStatus::not_reported:
      return with_detail("not reported", cell.detail);
    case CellStatus::not_applicable:
      return with_detail(kNone, cell.detail);
    case CellStatus::absent:
      return {};
  }
  return {};
}

std::string cell_text(const TableValue& value, const TableCell& cell) {
  if (cell.status != CellStatus::ok) return behind_number(value, cell);
  const bool marked = cell.tested && cell.tested->significant;
  return number_text(value, cell.value) + (marked ? kSignificantMark : "") +
         behind_number(value, cell);
}

std::vector<std::string> row_labels(const Table& table, size_t row) {
  std::vector<std::string> labels = table.rows[row].labels;
  for (std::string& label : labels) {
    if (label.empty()) label = kNone;
  }
  const auto is_difference = [&](size_t i) {
    const TableCell& cell = table.cells[table.index(row, 0, 0) + i];
    return cell.tested.has_value() || cell.untested;
  };
  if (table.against && table.against->differences && !labels.empty()) {
    const auto own = std::views::iota(size_t{0}, table.columns.size() * table.values.size());
    if (std::ranges::any_of(own, is_difference)) labels.front().insert(0, "minus ");
  }
  if (table.rows[row].oracle && !labels.empty()) {
    const auto method = std::ranges::find(table.row_axes, "method");
    const auto marked = method == table.row_axes.end() ? 0 : method - table.row_axes.begin();
    labels[static_cast<size_t>(marked)] += " †";
  }
  return labels;
}

}  // namespace qfs::reports

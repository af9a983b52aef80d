#include "reports/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace qfs::reports {
namespace {

constexpr const char* kNone = "–";

std::string with_detail(std::string text, const std::string& detail) {
  return detail.empty() ? text : text + " (" + detail + ")";
}

std::string spread_text(const TableValue& value, const TableCell& cell) {
  std::string text;
  if (!cell.seeds.empty() && !cell.difference) {
    text += fmt::format(" ± {:.{}f}", cell.deviation * value.scale, value.decimals);
  } else if (cell.spread && cell.spread->kind == SpreadKind::interval) {
    text +=
        fmt::format(" [{:.{}f}, {:.{}f}]", cell.spread->low * value.scale, value.spread_decimals,
                    cell.spread->high * value.scale, value.spread_decimals);
  } else if (shows_repetitions(cell)) {
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

bool shows_repetitions(const TableCell& cell) {
  return cell.status == CellStatus::ok && cell.spread && cell.n > 1 &&
         cell.spread->kind == SpreadKind::repetitions;
}

std::string number_text(const TableValue& value, double number) {
  return fmt::format("{:.{}f}", number * value.scale, value.decimals);
}

CellText shown_text(const TableValue& value, const TableCell& cell) {
  std::string behind = behind_number(value, cell);
  if (cell.status != CellStatus::ok) return {"", std::move(behind)};
  if (!cell.difference) return {number_text(value, cell.value), std::move(behind)};
  return {fmt::format("{:+.{}f}", cell.value * value.scale, value.decimals),
          behind + fmt::format(" (p {:.2g})", cell.tested->p_holm)};
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
      return value.group == ValueGroup::quality       ? "not scored"
             : value.group == ValueGroup::performance ? "not measured"
                                                      : "not reported";
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

std::vector<std::string> shown_labels(const std::vector<std::string>& axes,
                                      const AxisEntry& entry) {
  std::vector<std::string> labels = entry.labels;
  for (std::string& label : labels) {
    if (label.empty()) label = kNone;
  }
  if (entry.oracle && !labels.empty()) {
    const auto method = std::ranges::find(axes, "method");
    const auto marked = method == axes.end() ? 0 : method - axes.begin();
    labels[static_cast<size_t>(marked)] += " †";
  }
  return labels;
}

}  // namespace qfs::reports

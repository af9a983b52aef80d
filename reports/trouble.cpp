#include "reports/trouble.h"

#include <cctype>
#include <string>
#include <string_view>

namespace qfs::reports {
namespace {

/// "signal 9" out of "… died of signal 9 (Killed)"; "signal" when the text has no number.
std::string signal_detail(std::string_view text) {
  constexpr std::string_view kWord = "signal ";
  const size_t at = text.find(kWord);
  if (at == std::string_view::npos) return "signal";
  std::string digits;
  for (size_t i = at + kWord.size();
       i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i) {
    digits += text[i];
  }
  return digits.empty() ? "signal" : "signal " + digits;
}

TableCell failure_cell(const store::ResultRow& result) {
  TableCell cell;
  switch (result.failure) {
    case store::FailureKind::oom_device:
      cell.status = CellStatus::oom;
      cell.detail = "device";
      break;
    case store::FailureKind::oom_host:
      cell.status = CellStatus::oom;
      cell.detail = "host";
      break;
    case store::FailureKind::implied_oom:
      cell.status = CellStatus::oom;
      cell.detail = "implied";
      break;
    case store::FailureKind::timeout:
      cell.status = CellStatus::timeout;
      break;
    case store::FailureKind::signal:
      cell.status = CellStatus::failed;
      cell.detail = signal_detail(result.failure_text);
      break;
    case store::FailureKind::method_error:
      cell.status = CellStatus::failed;
      cell.detail = "method error";
      break;
    case store::FailureKind::data_error:
      cell.status = CellStatus::failed;
      cell.detail = "data error";
      break;
    case store::FailureKind::none:
      cell.status = CellStatus::failed;
      break;
  }
  return cell;
}

std::optional<TableCell> trouble(const store::ResultRow& result) {
  switch (result.status) {
    case store::Completeness::complete:
      return std::nullopt;
    case store::Completeness::failed:
      return failure_cell(result);
    case store::Completeness::incomplete:
    case store::Completeness::not_started:
      return incomplete_cell(result.done, result.expected);
  }
  return std::nullopt;
}

}  // namespace

TableCell incomplete_cell(int64_t done, int64_t expected) {
  TableCell cell;
  cell.status = CellStatus::incomplete;
  if (expected > 0) cell.detail = std::to_string(done) + "/" + std::to_string(expected);
  return cell;
}

std::optional<TableCell> predict_trouble(const PlaceFacts& place) {
  if (!place.predict) return incomplete_cell(0, static_cast<int64_t>(place.cell.ordinals.size()));
  return trouble(*place.predict);
}

std::optional<TableCell> measure_trouble(const PlaceFacts& place) {
  const store::ResultRow* const measure = place.measure ? &*place.measure : nullptr;
  const bool ended = measure != nullptr && (measure->status == store::Completeness::complete ||
                                            measure->status == store::Completeness::failed);
  if (ended) return trouble(*measure);
  if (measure == nullptr && place.place.measure_ordinals.empty()) {
    TableCell cell;
    cell.status = CellStatus::not_reported;
    return cell;
  }
  if (std::optional<TableCell> unpredicted = predict_trouble(place)) {
    // Numbers of examples would be read as numbers of repetitions.
    if (unpredicted->status == CellStatus::incomplete) unpredicted->detail.clear();
    return unpredicted;
  }
  return measure != nullptr ? trouble(*measure) : incomplete_cell(0, 0);
}

}  // namespace qfs::reports

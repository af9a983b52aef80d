#include "harness/compare/points.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "harness/api/metric_columns.h"

namespace qfs::compare {

Result<ColumnPoints> parse_column_points(std::string_view text, std::string_view option) {
  const size_t equals = text.find('=');
  const std::string_view column = text.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
  double points = 0;
  const char* const last = value.data() + value.size();
  const auto [end, error] = std::from_chars(value.data(), last, points);
  const std::string_view unit(end, static_cast<size_t>(last - end));
  if (column.empty() || error != std::errc() || !std::isfinite(points) || points < 0 ||
      (unit != "pt" && !unit.empty())) {
    return invalid_argument(
        fmt::format("{} expects COLUMN=POINTSpt, at least 0 and in points of the table, for "
                    "instance rougeL.f=0.5pt; found '{}'",
                    option, text));
  }
  if (unit.empty()) {
    std::string message =
        fmt::format("{} {}: the unit is missing; {} points of the table are written {}={}pt",
                    option, text, value, column, value);
    if (is_share(column) && points < 1) {
      message += fmt::format(", and the share {} is {}={:g}pt", value, column, 100 * points);
    }
    return invalid_argument(std::move(message));
  }
  return ColumnPoints{std::string(column), points / table_scale(column)};
}

Status add_margin(std::string_view text, std::string_view option, Rule rule,
                  std::map<std::string, Margin>& margins) {
  const auto said = parse_column_points(text, option);
  if (!said) return said.error();
  if (!margins.try_emplace(said->column, Margin{.rule = rule, .size = said->size}).second) {
    return invalid_argument(
        fmt::format("{} {}: '{}' has a margin already", option, text, said->column));
  }
  return {};
}

}  // namespace qfs::compare

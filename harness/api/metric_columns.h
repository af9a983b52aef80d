// What a metric's column names say about how its values are shown.
//
// Called by tables, `score` and `compare`. Pure; cannot fail.
#pragma once

#include <string_view>

namespace qfs {

/// Whether a column is a share in 0..1 that tables show times 100: one named "….p", "….r" or "….f".
/// Every other column is shown as it is, with four decimals.
constexpr bool is_share(std::string_view column) {
  return column.ends_with(".p") || column.ends_with(".r") || column.ends_with(".f");
}

/// Tables show the values of a column times this; what they show are points.
constexpr double table_scale(std::string_view column) { return is_share(column) ? 100 : 1; }

/// Whether a column is a sufficient statistic of others, such as the n-gram matches behind a corpus
/// BLEU: one named "…#…". It is stored and resampled, and no table shows it.
constexpr bool is_statistic(std::string_view column) {
  return column.find('#') != std::string_view::npos;
}

}  // namespace qfs

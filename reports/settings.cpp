#include "reports/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "harness/api/metric_columns.h"
#include "harness/core/suggest.h"
#include "reports/value.h"

namespace qfs::reports {
namespace {

/// "/report/values/2", or empty where the settings have no place in a file.
std::string pointer(const TableSettings& settings, std::string_view member, size_t index) {
  return settings.pointer.empty() ? "" : fmt::format("{}/{}/{}", settings.pointer, member, index);
}

/// Built in, or a known column; where no column is known, whatever looks like one ("rouge1.f").
bool may_be_value(const ValueSpec& value, std::span<const std::string> columns) {
  if (value.source != ValueSource::score) return true;
  if (columns.empty()) return value.key.find('.') != std::string::npos;
  return std::ranges::find(columns, value.key) != columns.end();
}

}  // namespace

Status check_axes(const TableSettings& settings, std::span<const std::string> known) {
  std::set<std::string> seen;
  for (const bool rows : {true, false}) {
    const std::vector<std::string>& axes = rows ? settings.rows : settings.columns;
    for (size_t i = 0; i < axes.size(); ++i) {
      const std::string where = pointer(settings, rows ? "rows" : "columns", i);
      const bool values = axes[i] == kValuesAxis;
      if (values && rows) {
        return invalid_argument("'values' is an axis of columns, not of rows", where);
      }
      if (!values && std::ranges::find(known, axes[i]) == known.end()) {
        return invalid_argument(
            fmt::format("no cell of the sweep has '{}', so it cannot be an axis of the table{}",
                        axes[i], suggestion(axes[i], known)),
            where);
      }
      if (!seen.insert(axes[i]).second) {
        return invalid_argument(fmt::format("'{}' is named twice among the table's axes", axes[i]),
                                where);
      }
    }
  }
  return {};
}

Status check_values(const TableSettings& settings, std::span<const std::string> columns) {
  std::vector<std::string> known(columns.begin(), columns.end());
  for (const BuiltInValue& built_in : built_in_values()) known.emplace_back(built_in.name);
  std::set<std::string> seen;
  for (size_t i = 0; i < settings.values.size(); ++i) {
    const std::string& name = settings.values[i];
    const std::string where = pointer(settings, "values", i);
    if (!may_be_value(value_spec(name), columns)) {
      const std::string& key = value_spec(name).key;
      return not_found(
          fmt::format("no metric of the sweep has the column '{}'{}", key, suggestion(key, known)),
          where);
    }
    if (!seen.insert(name).second) {
      return invalid_argument(fmt::format("the value '{}' is asked for twice", name), where);
    }
  }
  return {};
}

std::vector<std::string> default_values(std::span<const std::string> columns, bool measured) {
  std::vector<std::string> values;
  std::ranges::copy_if(columns, std::back_inserter(values),
                       [](const std::string& column) { return column.ends_with(".f"); });
  if (values.empty()) {
    std::ranges::remove_copy_if(columns, std::back_inserter(values), is_statistic);
  }
  if (measured)
    values.insert(values.end(), {"peak_memory", "tokens_per_second", "decode_fraction"});
  // A table without a value would hide what failed.
  if (values.empty()) values.emplace_back("truncated");
  return values;
}

}  // namespace qfs::reports

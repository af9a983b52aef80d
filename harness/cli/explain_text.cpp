#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/api/metric_columns.h"
#include "harness/cli/analysis_text.h"
#include "harness/cli/output.h"
#include "harness/core/log.h"

namespace qfs::cli {
namespace {

using nlohmann::json;
using score::ColumnValues;
using score::Contribution;
using score::ExplainedDifference;
using score::key_in_words;
using score::SignatureDifference;

std::string shown(const std::string& value) { return value.empty() ? "(nothing)" : value; }

/// F columns where there are any, else all.
std::vector<std::string> shown_columns(const ColumnValues& values) {
  std::vector<std::string> all;
  std::vector<std::string> f;
  for (const auto& [column, value] : values) {
    if (is_statistic(column)) continue;
    all.push_back(column);
    if (column.ends_with(".f")) f.push_back(column);
  }
  return f.empty() ? all : f;
}

std::vector<std::string> row(const std::string& name, const ColumnValues& values,
                             const std::vector<std::string>& columns, bool difference) {
  std::vector<std::string> cells = {name};
  for (const std::string& column : columns) {
    const auto value = values.find(column);
    if (value == values.end()) {
      cells.emplace_back("-");
      continue;
    }
    const double scaled = value->second * (is_share(column) ? 100 : 1);
    cells.push_back(difference ? fmt::format("{:+.4f}", scaled) : fmt::format("{:.4f}", scaled));
  }
  return cells;
}

}  // namespace

std::string explain_text(const ExplainedDifference& explained) {
  std::string text;
  if (explained.differences.empty()) text += "the signatures are equal\n";
  for (const SignatureDifference& difference : explained.differences) {
    text +=
        fmt::format("{} ({})\n  A: {}\n  B: {}\n", key_in_words(difference.key, difference.of_run),
                    difference.key, shown(difference.a), shown(difference.b));
  }
  if (!explained.with_texts) {
    return terminal_safe(text +
                         "\nGiven the texts as well, this says what each difference is worth.\n");
  }
  const std::vector<std::string> columns = shown_columns(explained.a);
  std::vector<std::vector<std::string>> rows = {{""}};
  rows[0].insert(rows[0].end(), columns.begin(), columns.end());
  rows.push_back(row("A", explained.a, columns, false));
  for (const Contribution& part : explained.contributions) {
    rows.push_back(row(part.key + " alone", part.alone, columns, true));
  }
  rows.push_back(row("interaction", explained.interaction, columns, true));
  for (const Contribution& part : explained.contributions) {
    rows.push_back(row(part.key + " in order", part.in_order, columns, true));
  }
  rows.push_back(row("B", explained.b, columns, false));
  return terminal_safe(
      text + "\n" + aligned(rows) +
      "\nalone: this option at B's value, all others at A's; interaction: B - A - their sum.\n"
      "in order: this option, those above it already at B's; these sum to B - A.\n");
}

std::string explain_json(const ExplainedDifference& explained) {
  json differences = json::array();
  for (const SignatureDifference& difference : explained.differences) {
    differences.push_back({{"key", difference.key},
                           {"meaning", key_in_words(difference.key, difference.of_run)},
                           {"a", difference.a},
                           {"b", difference.b}});
  }
  json body = {{"differences", std::move(differences)}};
  if (explained.with_texts) {
    json parts = json::array();
    for (const Contribution& part : explained.contributions) {
      parts.push_back({{"key", part.key}, {"alone", part.alone}, {"in_order", part.in_order}});
    }
    body["a"] = explained.a;
    body["b"] = explained.b;
    body["contributions"] = std::move(parts);
    body["interaction"] = explained.interaction;
  }
  return json_document("score-explain-diff", body);
}

}  // namespace qfs::cli

#include "harness/cli/comparison_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/api/metric_columns.h"
#include "harness/cli/decision_text.h"
#include "harness/cli/output.h"
#include "harness/core/counted.h"
#include "reports/escape.h"

namespace qfs::cli {
namespace {

using compare::ComparedColumn;
using compare::Comparison;
using compare::Outcome;
using nlohmann::json;

std::string row_text(const ComparedColumn& column) {
  const Shown shown(column.name);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {}/{}/{} |\n",
                     reports::markdown_text(column.name), shown.value(column.a),
                     shown.value(column.b), shown.change(column.difference.difference),
                     shown.interval(column.difference.interval), p_text(column.p),
                     p_text(column.p_holm), column.higher, column.equal, column.lower);
}

std::string example_text(const compare::DifferentExample& example) {
  return example.id.empty() ? std::to_string(example.ordinal) : reports::markdown_text(example.id);
}

/// "; only in A: 3 (q0, q1, q2)"
std::string only_text(const char* side, const std::vector<std::string>& names,
                      const std::vector<std::string>& clusters, const std::string& unit) {
  if (names.empty()) return "";
  constexpr size_t kNamed = 10;
  const size_t named = std::min(names.size(), kNamed);
  std::string list = fmt::format("{}", fmt::join(names.begin(), names.begin() + named, ", "));
  if (named < names.size()) list += ", …";
  std::string text =
      fmt::format("; only in {}: {} ({})", side, names.size(), reports::markdown_text(list));
  if (unit != "item" && !clusters.empty()) {
    text += fmt::format(", {} with them", counted(clusters.size(), "whole " + unit));
  }
  return text;
}

std::string empty_text(const char* side, int64_t empty, int64_t examples) {
  if (empty == 0) return "";
  if (empty >= examples) return fmt::format("{}: every output is empty\n", side);
  return fmt::format("{}: {} of {} outputs {} empty\n", side, empty, examples,
                     empty == 1 ? "is" : "are");
}

/// What is said where no data on so few clusters could differ significantly.
std::string few_text(const Comparison& comparison) {
  if (comparison.columns.empty() || comparison.least_p < compare::kLevel) return "";
  return fmt::format("with {} no p of the table, which are two-sided, can be below {}\n",
                     counted(comparison.clusters, comparison.unit), p_text(comparison.least_p));
}

std::string one_text(const Comparison& comparison) {
  std::string text =
      fmt::format("A: {}\nB: {}\n{}", reports::markdown_text(comparison.a),
                  reports::markdown_text(comparison.b), counted(comparison.examples, "example"));
  if (comparison.unit != "item") {
    text += " of " + counted(comparison.clusters, comparison.unit);
  }
  text += only_text("A", comparison.only_a, comparison.clusters_only_a, comparison.unit) +
          only_text("B", comparison.only_b, comparison.clusters_only_b, comparison.unit) + "\n" +
          empty_text("A", comparison.empty_a, comparison.examples) +
          empty_text("B", comparison.empty_b, comparison.examples);
  const bool shares = std::ranges::all_of(comparison.columns, is_share, &ComparedColumn::name);
  text += fmt::format(
      "\n| {} | A | B | B − A | 95 % | p | p (Holm) | B higher/equal/lower |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|\n",
      shares ? "× 100" : "");
  for (const ComparedColumn& column : comparison.columns) text += row_text(column);
  text += '\n' + few_text(comparison);
  for (const ComparedColumn& column : comparison.columns) {
    if (!column.decision) continue;
    text += fmt::format("{}: {}\n", reports::markdown_text(column.name),
                        decision_text(column, comparison.unit));
  }
  for (const std::string& name : comparison.left_out) {
    text += fmt::format(
        "{}: left out, its corpus value is neither a mean of examples nor made of such means\n",
        reports::markdown_text(name));
  }
  for (const compare::DifferentExample& example : comparison.most_different) {
    const std::string& column = comparison.columns.front().name;
    const Shown shown(column);
    text += fmt::format("example {}: {} {} → {} ({})\n", example_text(example),
                        reports::markdown_text(column), shown.value(example.a),
                        shown.value(example.b), shown.change(example.b - example.a));
  }
  return text + fmt::format("\n{}\n", reports::markdown_code(comparison.signature));
}

std::string cells_text(const std::string& title, const std::vector<compare::NotCompared>& cells) {
  if (cells.empty()) return "";
  std::string text = title + ":\n";
  for (const compare::NotCompared& cell : cells) {
    text += fmt::format("- {}: {}\n", reports::markdown_text(cell.name),
                        reports::markdown_text(cell.reason));
  }
  return text;
}

std::string left_out_text(const Outcome& outcome) {
  std::string text =
      cells_text(outcome.comparisons.empty() ? "NOTHING WAS COMPARED" : "NOT COMPARED",
                 outcome.missing) +
      cells_text("only in B", outcome.only_b);
  for (const std::string& advice : outcome.advice) text += reports::markdown_text(advice) + "\n";
  return text.empty() ? "" : text + "\n";
}

json column_json(const ComparedColumn& column) {
  json object = {{"a", column.a},
                 {"b", column.b},
                 {"difference", column.difference.difference},
                 {"better", better_json(column.better)},
                 {"p", column.p},
                 {"p_holm", column.p_holm},
                 {"higher", column.higher},
                 {"equal", column.equal},
                 {"lower", column.lower}};
  if (column.difference.interval.available()) {
    object["interval"] = {column.difference.interval.low, column.difference.interval.high};
  }
  if (column.decision) {
    object["decision"] = decision_json(*column.decision, table_scale(column.name));
  }
  return object;
}

json one_json(const Comparison& comparison) {
  json columns = json::object();
  for (const ComparedColumn& column : comparison.columns) {
    columns[column.name] = column_json(column);
  }
  json examples = json::array();
  for (const compare::DifferentExample& example : comparison.most_different) {
    json& object = examples.emplace_back(json{{"a", example.a}, {"b", example.b}});
    if (example.id.empty()) {
      object["ordinal"] = example.ordinal;
    } else {
      object["id"] = example.id;
    }
  }
  json differences = json::object();
  for (const compare::Difference& difference : comparison.differences) {
    differences[difference.name] = {difference.a, difference.b};
  }
  return {{"a", comparison.a},
          {"b", comparison.b},
          {"differences", std::move(differences)},
          {"metric", comparison.metric},
          {"signature", comparison.signature},
          {"examples", comparison.examples},
          {"only_a", comparison.only_a},
          {"only_b", comparison.only_b},
          {"clusters", comparison.clusters},
          {"clusters_only_a", comparison.clusters_only_a},
          {"clusters_only_b", comparison.clusters_only_b},
          {"empty_a", comparison.empty_a},
          {"empty_b", comparison.empty_b},
          {"unit", comparison.unit},
          {"columns", std::move(columns)},
          {"left_out", comparison.left_out},
          {"most_different", std::move(examples)}};
}

}  // namespace

std::string comparison_text(const Outcome& outcome) {
  std::string text;
  for (const Comparison& comparison : outcome.comparisons) text += one_text(comparison) + "\n";
  return text + left_out_text(outcome) +
         reports::markdown_code("intervals: " + compare::interval_signature() +
                                " | p: " + compare::test_signature()) +
         "\n";
}

std::string comparison_json(const Outcome& outcome) {
  json list = json::array();
  for (const Comparison& comparison : outcome.comparisons) list.push_back(one_json(comparison));
  return json_document("compare",
                       {{"comparisons", std::move(list)},
                        {"complete", outcome.complete()},
                        {"not_compared", not_compared_json(outcome.missing)},
                        {"only_b", not_compared_json(outcome.only_b)},
                        {"metrics_not_compared", outcome.metrics},
                        {"advice", outcome.advice},
                        {"intervals", compare::interval_signature()},
                        {"test", compare::test_signature()}},
                       2);
}

}  // namespace qfs::cli

// How a comparison is shown: a Markdown table a metric, and JSON with everything unrounded.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/api/metric_columns.h"
#include "harness/cli/comparison.h"
#include "harness/cli/output.h"
#include "metrics/stats/randomization.h"
#include "reports/escape.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

/// How the values of a column are printed: shares times 100 (is_share), others as they are.
struct Shown {
  double scale = 1;
  int decimals = 4;

  explicit Shown(const std::string& column) {
    if (is_share(column)) *this = Shown(100, 2);
  }
  std::string value(double value) const { return fmt::format("{:.{}f}", value * scale, decimals); }
  std::string change(double value) const {
    return fmt::format("{:+.{}f}", value * scale, decimals);
  }
  std::string interval(const metrics::Interval& interval) const {
    if (!interval.available()) return metrics::unavailable_interval_text(interval);
    return fmt::format("[{}, {}]", change(interval.low), change(interval.high));
  }

 private:
  Shown(double scale, int decimals) : scale(scale), decimals(decimals) {}
};

/// A p-value is never shown as 0.
std::string p_text(double p) { return p < 0.00005 ? "<0.0001" : fmt::format("{:.4f}", p); }

std::string row_text(const ComparedColumn& column) {
  const Shown shown(column.name);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {}/{}/{} |\n",
                     reports::markdown_text(column.name), shown.value(column.a),
                     shown.value(column.b), shown.change(column.difference.difference),
                     shown.interval(column.difference.interval), p_text(column.p),
                     p_text(column.p_holm), column.wins, column.ties, column.losses);
}

std::string drop_text(const ComparedColumn& column) {
  const Shown shown(column.name);
  std::string test = fmt::format("one-sided p {}", p_text(column.drop->p));
  if (column.drop->bound) {
    test += fmt::format(", paired bootstrap: B − A is at most {} with {} % confidence",
                        shown.change(*column.drop->bound), 100 * (1 - kLevel));
  }
  return fmt::format("{}: a drop of more than {} is {} ({})\n", reports::markdown_text(column.name),
                     shown.value(column.drop->margin),
                     column.drop->worse ? "shown: WORSE" : "not shown", test);
}

std::string example_text(const DifferentExample& example) {
  return example.id.empty() ? std::to_string(example.ordinal) : reports::markdown_text(example.id);
}

std::string one_text(const Comparison& comparison) {
  std::string text = fmt::format("A: {}\nB: {}\n{} examples", reports::markdown_text(comparison.a),
                                 reports::markdown_text(comparison.b), comparison.examples);
  if (comparison.unit != "item") {
    text += fmt::format(" of {} {}s", comparison.clusters, comparison.unit);
  }
  if (comparison.only_a + comparison.only_b > 0) {
    text += fmt::format(" ({} only in A, {} only in B: left out)", comparison.only_a,
                        comparison.only_b);
  }
  const bool shares = std::ranges::all_of(comparison.columns, is_share, &ComparedColumn::name);
  text += fmt::format(
      "\n\n| {} | A | B | B − A | 95 % | p | p (Holm) | B better/equal/worse |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|\n",
      shares ? "× 100" : "");
  for (const ComparedColumn& column : comparison.columns) text += row_text(column);
  text += '\n';
  for (const ComparedColumn& column : comparison.columns) {
    if (column.drop) text += drop_text(column);
  }
  for (const std::string& name : comparison.left_out) {
    text += fmt::format(
        "{}: left out, its corpus value is neither a mean of examples nor made of such means\n",
        reports::markdown_text(name));
  }
  for (const DifferentExample& example : comparison.most_different) {
    const std::string& column = comparison.columns.front().name;
    const Shown shown(column);
    text += fmt::format("example {}: {} {} → {} ({})\n", example_text(example),
                        reports::markdown_text(column), shown.value(example.a),
                        shown.value(example.b), shown.change(example.b - example.a));
  }
  return text + fmt::format("\n{}\n", reports::markdown_code(comparison.signature));
}

json column_json(const ComparedColumn& column) {
  json object = {{"a", column.a},
                 {"b", column.b},
                 {"difference", column.difference.difference},
                 {"p", column.p},
                 {"p_holm", column.p_holm},
                 {"wins", column.wins},
                 {"ties", column.ties},
                 {"losses", column.losses}};
  if (column.difference.interval.available()) {
    object["interval"] = {column.difference.interval.low, column.difference.interval.high};
  }
  if (column.drop) {
    object["max_drop"] = {
        {"margin", column.drop->margin},
        {"p", column.drop->p},
        {"worse", column.drop->worse},
        {"test", column.drop->bound ? "paired bootstrap" : "paired randomisation"}};
    if (column.drop->bound) object["max_drop"]["bound"] = *column.drop->bound;
  }
  return object;
}

json one_json(const Comparison& comparison) {
  json columns = json::object();
  for (const ComparedColumn& column : comparison.columns) {
    columns[column.name] = column_json(column);
  }
  json examples = json::array();
  for (const DifferentExample& example : comparison.most_different) {
    json& object = examples.emplace_back(json{{"a", example.a}, {"b", example.b}});
    if (example.id.empty()) {
      object["ordinal"] = example.ordinal;
    } else {
      object["id"] = example.id;
    }
  }
  return {{"a", comparison.a},
          {"b", comparison.b},
          {"metric", comparison.metric},
          {"signature", comparison.signature},
          {"examples", comparison.examples},
          {"only_a", comparison.only_a},
          {"only_b", comparison.only_b},
          {"clusters", comparison.clusters},
          {"unit", comparison.unit},
          {"columns", std::move(columns)},
          {"left_out", comparison.left_out},
          {"most_different", std::move(examples)}};
}

}  // namespace

std::string comparison_text(const std::vector<Comparison>& comparisons) {
  std::string text;
  for (const Comparison& comparison : comparisons) text += one_text(comparison) + "\n";
  return text +
         reports::markdown_code("intervals: " + metrics::bootstrap_signature({}) +
                                " | p: " + metrics::randomization_signature({})) +
         "\n";
}

std::string comparison_json(const std::vector<Comparison>& comparisons) {
  json list = json::array();
  for (const Comparison& comparison : comparisons) list.push_back(one_json(comparison));
  return json_document("compare", {{"comparisons", std::move(list)},
                                   {"intervals", metrics::bootstrap_signature({})},
                                   {"test", metrics::randomization_signature({})}});
}

}  // namespace qfs::cli

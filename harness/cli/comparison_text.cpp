#include "harness/cli/comparison_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/api/metric_columns.h"
#include "harness/cli/output.h"
#include "harness/core/counted.h"
#include "reports/escape.h"

namespace qfs::cli {
namespace {

using compare::ComparedColumn;
using compare::Comparison;
using compare::Decision;
using compare::Doubt;
using compare::Outcome;
using compare::Rule;
using compare::Verdict;
using nlohmann::json;

/// How the values of a column are printed: shares times 100 (is_share), others as they are.
struct Shown {
  double scale = 1;
  int decimals = 4;

  explicit Shown(const std::string& column)
      : scale(table_scale(column)), decimals(is_share(column) ? 2 : 4) {}
  std::string value(double value) const { return fmt::format("{:.{}f}", value * scale, decimals); }
  std::string change(double value) const {
    return fmt::format("{:+.{}f}", value * scale, decimals);
  }
  std::string points(double value) const { return this->value(value) + " points"; }
  std::string interval(const metrics::Interval& interval) const {
    if (!interval.available()) return metrics::unavailable_interval_text(interval);
    return fmt::format("[{}, {}]", change(interval.low), change(interval.high));
  }
};

/// A p-value is never shown as 0.
std::string p_text(double p) { return p < 0.00005 ? "<0.0001" : fmt::format("{:.4f}", p); }

/// "p = 0.0123", "p < 0.0001", with the adjustment where there is one.
std::string tested_text(const Decision& decision) {
  std::string text = decision.p() < 0.00005 ? "p < 0.0001" : "p = " + p_text(decision.p());
  if (decision.tests > 1) text += fmt::format(", Holm over {} tests", decision.tests);
  return text + (decision.bootstrap ? ", paired bootstrap" : "");
}

std::string row_text(const ComparedColumn& column) {
  const Shown shown(column.name);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {}/{}/{} |\n",
                     reports::markdown_text(column.name), shown.value(column.a),
                     shown.value(column.b), shown.change(column.difference.difference),
                     shown.interval(column.difference.interval), p_text(column.p),
                     p_text(column.p_holm), column.higher, column.equal, column.lower);
}

std::string needed_text(const Decision& decision, const std::string& unit, const char* verb) {
  if (decision.clusters_needed == 0) return "";
  return fmt::format("; {}{} {}", decision.doubt == Doubt::too_few_clusters ? "" : "about ",
                     counted(decision.clusters_needed, unit), verb);
}

std::string doubt_text(const ComparedColumn& column, const std::string& unit, const char* loss) {
  const Decision& decision = *column.decision;
  const Shown shown(column.name);
  switch (decision.doubt) {
    case Doubt::too_few_clusters:
      if (decision.clusters_needed == 0) {
        return fmt::format(
            "{} at once are too many for any p to be below {}; compare fewer cells "
            "or columns",
            counted(decision.tests, "test"), compare::kLevel);
      }
      if (decision.too_few_to_draw()) {
        return fmt::format(
            "the paired bootstrap of a corpus value needs at least {}, and there {} {}",
            counted(decision.clusters_needed, unit), decision.clusters == 1 ? "is" : "are",
            decision.clusters);
      }
      return fmt::format(
          "with {} no one-sided p can be below {}{}, and {} is asked for{}",
          counted(decision.clusters, unit), p_text(decision.least_p),
          decision.tests > 1 ? fmt::format(" (Holm over {} tests)", decision.tests) : "",
          compare::kLevel, needed_text(decision, unit, "would do"));
    case Doubt::nothing_to_lose:
      return fmt::format(
          "A has {}, which is no more than the margin of {}, so that any B would pass; choose a "
          "smaller margin",
          shown.points(column.a), shown.value(decision.margin.size));
    case Doubt::may_be_chance:
      if (decision.margin.rule == Rule::max_drop) {
        return fmt::format("the {} of {} is beyond {} but may be chance ({}){}", loss,
                           shown.points(decision.loss), shown.value(decision.margin.size),
                           tested_text(decision), needed_text(decision, unit, "would show it"));
      }
      return fmt::format("that the {} is less than {} may be chance ({}){}", loss,
                         shown.points(decision.margin.size), tested_text(decision),
                         needed_text(decision, unit, "would show it"));
    case Doubt::beyond_margin:
      return fmt::format("the {} of {} is not less than {}", loss, shown.points(decision.loss),
                         shown.value(decision.margin.size));
    case Doubt::none:
      break;
  }
  return "";
}

std::string decision_text(const ComparedColumn& column, const std::string& unit) {
  const Decision& decision = *column.decision;
  const char* const loss = column.better == Better::lower ? "rise" : "drop";
  const std::string margin = Shown(column.name).points(decision.margin.size);
  std::string text = reports::markdown_text(column.name) + ": ";
  switch (decision.verdict) {
    case Verdict::worse:
      text += fmt::format("WORSE: the {} is beyond {} ({})", loss, margin, tested_text(decision));
      break;
    case Verdict::cannot_decide:
      text += "CANNOT DECIDE: " + doubt_text(column, unit, loss);
      break;
    case Verdict::not_worse:
      text += decision.margin.rule == Rule::max_drop
                  ? fmt::format("PASS: no significant {} beyond {} ({})", loss, margin,
                                tested_text(decision))
                  : fmt::format("PASS: the {} is less than {} ({})", loss, margin,
                                tested_text(decision));
  }
  return text + "\n";
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
    if (column.decision) text += decision_text(column, comparison.unit);
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

json decision_json(const Decision& decision, double scale) {
  json object = {{"rule", to_string(decision.margin.rule)},
                 {"verdict", to_string(decision.verdict)},
                 {"margin_points", decision.margin.size * scale},
                 {"loss_points", decision.loss * scale},
                 {"p_worse", decision.p_worse},
                 {"p_worse_holm", decision.p_worse_holm},
                 {"p_not_worse", decision.p_not_worse},
                 {"p_not_worse_holm", decision.p_not_worse_holm},
                 {"test", decision.bootstrap ? "paired bootstrap" : "paired randomisation"},
                 {"tests", decision.tests},
                 {"least_p", decision.least_p}};
  if (decision.doubt != Doubt::none) object["doubt"] = to_string(decision.doubt);
  if (decision.clusters_needed > 0) object["clusters_needed"] = decision.clusters_needed;
  if (decision.least) object["loss_points_at_least"] = *decision.least * scale;
  if (decision.most) object["loss_points_at_most"] = *decision.most * scale;
  return object;
}

json better_json(Better better) {
  switch (better) {
    case Better::higher:
      return "higher";
    case Better::lower:
      return "lower";
    case Better::neither:
      return "neither";
    case Better::unknown:
      break;
  }
  return nullptr;
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

json cells_json(const std::vector<compare::NotCompared>& cells) {
  json list = json::array();
  for (const compare::NotCompared& cell : cells) {
    list.push_back({{"cell", cell.name}, {"reason", cell.reason}});
  }
  return list;
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
                        {"not_compared", cells_json(outcome.missing)},
                        {"only_b", cells_json(outcome.only_b)},
                        {"metrics_not_compared", outcome.metrics},
                        {"advice", outcome.advice},
                        {"intervals", compare::interval_signature()},
                        {"test", compare::test_signature()}},
                       2);
}

}  // namespace qfs::cli

#include "harness/cli/gate_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/cli/decision_text.h"
#include "harness/cli/output.h"
#include "harness/core/counted.h"
#include "reports/escape.h"

namespace qfs::cli {
namespace {

using nlohmann::json;
using reports::markdown_text;
using reports::workflow_message;
using reports::workflow_property;
using reports::xml_text;

constexpr size_t kMarkdownRows = 1000;
constexpr size_t kAnnotations = 10;

/// "lead local_context=128 rougeL.f"
std::string place_of(const GateCheck& check) {
  return check.value.empty() ? check.cell : check.cell + " " + check.value;
}

std::string values_of(const GateCheck& check) {
  if (check.baseline.empty()) return "";
  return fmt::format(" ({} → {}, {})", check.baseline, check.candidate, check.change);
}

/// Holds the baseline's name where it was created, and is escaped like one.
std::string closing_of(const GateReport& report) {
  if (!report.created) return closing_line(report.outcome, report.checks);
  return "gate: CREATED: there was no baseline " + report.baseline;
}

json checks_json(const std::vector<GateCheck>& checks) {
  json list = json::array();
  for (const GateCheck& check : checks) {
    json& object = list.emplace_back(json{{"state", to_string(check.state)},
                                          {"cell", check.cell},
                                          {"differs", check.differs},
                                          {"sentence", check.sentence}});
    if (!check.value.empty()) object["value"] = check.value;
  }
  return list;
}

json quality_json(const gate::Outcome& outcome) {
  json list = json::array();
  for (const compare::Comparison& comparison : outcome.quality.comparisons) {
    for (const compare::ComparedColumn& column : comparison.columns) {
      if (!column.decision) continue;
      const compare::Decision& decision = *column.decision;
      const double scale = table_scale(column.name);
      json& object = list.emplace_back(json{{"cell", comparison.cell},
                                            {"value", column.name},
                                            {"signature", comparison.signature},
                                            {"baseline", column.a},
                                            {"candidate", column.b},
                                            {"difference", column.difference.difference},
                                            {"better", better_json(column.better)},
                                            {"examples", comparison.examples},
                                            {"clusters", comparison.clusters},
                                            {"decision", decision_json(decision, scale)}});
      object["decision"]["unchanged"] = decision.unchanged;
      object["decision"]["noise_points"] = decision.margin.noise * scale;
      if (const auto loss = decision.detectable_loss()) {
        object["detectable_points"] = loss->value * scale;
        object["detectable_points_interval"] = {loss->low * scale, loss->high * scale};
      }
      if (const auto power = decision.power_of_equal()) {
        object["power_of_equal"] = power->value;
        object["power_of_equal_interval"] = {power->low, power->high};
      }
      json power = json::array();
      for (const double points : outcome.power_at) {
        const auto chance = decision.power(points / scale);
        if (!chance) continue;
        power.push_back({{"points", points},
                         {"power", chance->value},
                         {"interval", {chance->low, chance->high}}});
      }
      object["power"] = std::move(power);
    }
  }
  return list;
}

json measured_json(const compare::Repeated& value) {
  return {{"median", value.median},
          {"low", value.low},
          {"high", value.high},
          {"repetitions", value.repetitions}};
}

json bands_json(const gate::Outcome& outcome) {
  json list = json::array();
  for (const gate::BandCheck& check : outcome.bands) {
    list.push_back(
        {{"cell", check.cell},
         {"value", check.band.value},
         {"ratio", check.ratio},
         {gate::less_is_better(check.band.value) ? "at_most" : "at_least", check.band.ratio},
         {"baseline", measured_json(check.baseline)},
         {"candidate", measured_json(check.candidate)},
         {"verdict", compare::to_string(check.verdict)},
         {"doubt", to_string(check.doubt)}});
  }
  return list;
}

json limits_json(const gate::Outcome& outcome) {
  json list = json::array();
  for (const gate::LimitCheck& check : outcome.limits) {
    list.push_back({{"cell", check.cell},
                    {"value", check.limit.value},
                    {"candidate", check.value},
                    {check.limit.at_least ? "at_least" : "at_most", check.limit.bound},
                    {"verdict", compare::to_string(check.verdict)}});
    if (!check.score.empty()) list.back()["score"] = check.score;
  }
  return list;
}

bool is_error(CheckState state) {
  return state == CheckState::incomplete || state == CheckState::cannot_decide;
}

}  // namespace

std::string gate_text(const GateReport& report) {
  if (report.created) return markdown_text(closing_of(report)) + "\n";
  std::string text = fmt::format("baseline (A): {}\ncandidate (B): {}\n",
                                 markdown_text(report.baseline), markdown_text(report.candidate));
  size_t unchanged = 0;
  for (const GateCheck& check : report.checks) {
    if (check.state == CheckState::not_worse && !check.differs) {
      ++unchanged;
      continue;
    }
    text += fmt::format("- {}{}: {}\n", markdown_text(place_of(check)), values_of(check),
                        markdown_text(check.sentence));
  }
  if (unchanged > 0) text += fmt::format("{} passed unchanged\n", counted(unchanged, "check"));
  for (const compare::NotCompared& cell : report.outcome.quality.only_b) {
    text += fmt::format("only in the candidate: {}\n", markdown_text(cell.name));
  }
  for (const std::string& advice : report.outcome.quality.advice) {
    text += fmt::format("note: {}\n", markdown_text(advice));  // no line begins with foreign text
  }
  for (const std::string& line : power_lines(report.outcome)) text += markdown_text(line) + "\n";
  return text + closing_of(report) + "\n";
}

std::string gate_json(const GateReport& report) {
  const gate::Outcome& outcome = report.outcome;
  return json_document(
      "gate", {{"baseline", report.baseline},
               {"candidate", report.candidate},
               {"conclusion", report.created ? "created" : to_string(outcome.conclusion())},
               {"closing_line", closing_of(report)},
               {"false_alarm_rate", outcome.level},
               {"repeats", outcome.repeats},
               {"checks", checks_json(report.checks)},
               {"quality", quality_json(outcome)},
               {"bands", bands_json(outcome)},
               {"limits", limits_json(outcome)},
               {"not_compared", not_compared_json(outcome.quality.missing)},
               {"metrics_not_compared", outcome.quality.metrics},
               {"only_candidate", not_compared_json(outcome.quality.only_b)},
               {"advice", outcome.quality.advice},
               {"test", compare::test_signature()}});
}

std::string gate_junit(const GateReport& report) {
  const auto& checks = report.checks;
  const auto failures = std::ranges::count(checks, CheckState::worse, &GateCheck::state);
  const auto errors = std::ranges::count_if(checks, is_error, &GateCheck::state);
  const std::string totals =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", checks.size(), failures, errors);
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n"
      "<testsuite name=\"qfs-bench gate\" {0} skipped=\"0\">\n",
      totals);
  for (const GateCheck& check : checks) {
    const std::string name = check.value.empty() ? "cell" : check.value;
    xml += fmt::format("<testcase classname=\"{}\" name=\"{}\"", xml_text(check.cell),
                       xml_text(check.rule.empty() ? name : name + ", " + check.rule));
    if (check.state == CheckState::not_worse) {
      xml += "/>\n";
      continue;
    }
    const char* const element = check.state == CheckState::worse ? "failure" : "error";
    xml += fmt::format("><{0} type=\"{1}\" message=\"{2}\">{3}{4}</{0}></testcase>\n", element,
                       to_string(check.state), xml_text(check.sentence), xml_text(place_of(check)),
                       xml_text(values_of(check)));
  }
  return xml + fmt::format("<system-out>{}</system-out>\n</testsuite>\n</testsuites>\n",
                           xml_text(closing_of(report)));
}

std::string gate_markdown(const GateReport& report) {
  std::string text =
      fmt::format("### {}\n\nB: {}, against A: {}\n", markdown_text(closing_of(report)),
                  markdown_text(report.candidate), markdown_text(report.baseline));
  if (report.created) return text;
  size_t rows = 0;
  size_t left = 0;
  for (const GateCheck& check : report.checks) {
    if (check.state == CheckState::not_worse && !check.differs) continue;
    if (rows == kMarkdownRows) {
      ++left;
      continue;
    }
    if (rows++ == 0) {
      text +=
          "\n| cell | value | baseline | candidate | change | verdict |\n"
          "|---|---|---:|---:|---:|---|\n";
    }
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", markdown_text(check.cell),
                        markdown_text(check.value), check.baseline, check.candidate, check.change,
                        markdown_text(check.sentence));
  }
  if (rows == 0) text += "\nNo check differs from the baseline.\n";
  if (left > 0) text += fmt::format("\n… and {} more\n", left);
  const std::vector<std::string> lines = power_lines(report.outcome);
  if (!lines.empty()) text += "\n";
  for (const std::string& line : lines) text += "- " + markdown_text(line) + "\n";
  return text;
}

std::string gate_annotations(const GateReport& report) {
  std::string text;
  size_t shown = 0;
  size_t left = 0;
  for (const GateCheck& check : report.checks) {
    if (check.state == CheckState::not_worse) continue;
    if (shown == kAnnotations) {
      ++left;
      continue;
    }
    ++shown;
    text +=
        fmt::format("::{} title={}::{}\n", check.state == CheckState::worse ? "error" : "warning",
                    workflow_property("qfs-bench gate: " + place_of(check)),
                    workflow_message(check.sentence + values_of(check)));
  }
  text += fmt::format("::notice title=qfs-bench gate::{}{}\n", workflow_message(closing_of(report)),
                      left > 0 ? fmt::format("; {} more in the log", left) : "");
  return text;
}

}  // namespace qfs::cli

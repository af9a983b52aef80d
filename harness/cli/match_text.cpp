#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/cli/analysis_text.h"
#include "harness/cli/output.h"
#include "harness/core/log.h"

namespace qfs::cli {
namespace {

using nlohmann::json;
using score::MatchReport;
using score::MatchTarget;

constexpr size_t kNearest = 5;
constexpr int kMoreDecimals = 2;

/// "rouge1" of "rouge1.f": what a row reads is in a column of its own.
std::string_view without_f(std::string_view column) {
  return column.ends_with(".f") ? column.substr(0, column.size() - 2) : column;
}

std::string table_of(const MatchReport& report, const std::vector<size_t>& chosen) {
  const bool other_readings =
      std::ranges::any_of(chosen, [&](size_t i) { return !report.tries[i].reading.empty(); });
  std::vector<std::vector<std::string>> rows = {{"metric"}};
  for (const MatchTarget& target : report.targets) {
    rows[0].push_back(fmt::format("{} {}", without_f(target.column), target.printed));
  }
  if (other_readings) rows[0].emplace_back("read as");
  for (size_t i : chosen) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(report.tries[i].metric);
    for (size_t t = 0; t < report.targets.size(); ++t) {
      const MatchTarget& target = report.targets[t];
      row.push_back(fmt::format("{:.{}f}", report.tries[i].values[t] * target.scale,
                                target.decimals + kMoreDecimals));
    }
    const std::string& reading = report.tries[i].reading;
    if (other_readings) row.push_back(reading.empty() ? "F" : reading);
  }
  return aligned(rows);
}

std::string not_tried_text(const MatchReport& report) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& [name, reason] : report.not_tried) by_reason[reason].push_back(name);
  std::string text;
  for (const auto& [reason, names] : by_reason) {
    text +=
        fmt::format("not tried: {}{}: {}\n", names[0],
                    names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "", reason);
  }
  return text;
}

json tries_json(const MatchReport& report, const std::vector<size_t>& chosen) {
  json list = json::array();
  for (size_t i : chosen) {
    json values = json::object();
    for (size_t t = 0; t < report.targets.size(); ++t) {
      values[report.targets[t].column] = report.tries[i].values[t];
    }
    list.push_back({{"metric", report.tries[i].metric},
                    {"reading", report.tries[i].reading},
                    {"values", std::move(values)}});
  }
  return list;
}

std::string text_of(const MatchReport& report) {
  const std::vector<size_t> found = report.matching();
  const std::string references = report.most_references == 1
                                     ? "1 reference"
                                     : fmt::format("up to {} references", report.most_references);
  std::string text = fmt::format(
      "{} of {} ways of computing give these digits ({} item{}, {} per item)\n\n", found.size(),
      report.tries.size(), report.items, report.items == 1 ? "" : "s", references);
  if (report.tries.empty()) return text + not_tried_text(report);
  if (found.empty()) text += "the nearest:\n";
  text += table_of(report, found.empty() ? report.nearest(kNearest) : found);
  text += fmt::format("\n{} different results; expected matches by chance: at most {:.2g}\n",
                      report.distinct(), report.expected_by_chance().second);
  return text + not_tried_text(report);
}

json body_of(const MatchReport& report) {
  json targets = json::array();
  for (const MatchTarget& target : report.targets) {
    targets.push_back(
        {{"column", target.column}, {"printed", target.printed}, {"scale", target.scale}});
  }
  json not_tried = json::array();
  for (const auto& [name, reason] : report.not_tried) {
    not_tried.push_back({{"metric", name}, {"reason", reason}});
  }
  const auto [low, high] = report.expected_by_chance();
  return {{"targets", std::move(targets)},
          {"items", report.items},
          {"tried", report.tries.size()},
          {"distinct", report.distinct()},
          {"expected_by_chance", {low, high}},
          {"matches", tries_json(report, report.matching())},
          {"nearest", tries_json(report, report.nearest(kNearest))},
          {"not_tried", std::move(not_tried)}};
}

}  // namespace

std::string match_text(std::span<const MatchReport> reports) {
  std::string text;
  for (const MatchReport& report : reports) text += (text.empty() ? "" : "\n") + text_of(report);
  return terminal_safe(text);
}

std::string match_json(std::span<const MatchReport> reports) {
  json families = json::array();
  for (const MatchReport& report : reports) families.push_back(body_of(report));
  json body = reports.size() == 1 ? families.front() : json::object();
  if (reports.size() > 1) body["families"] = std::move(families);
  return json_document("score-match", body);
}

}  // namespace qfs::cli

#include "harness/cli/score_import.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/decision_text.h"
#include "harness/cli/output.h"
#include "harness/cli/store_path.h"
#include "harness/core/log.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

std::string table_of(const score::AnalysedImport& shown) {
  const std::vector<std::string> columns = shown.scores->metric->columns();
  std::vector<std::vector<std::string>> rows = {
      {"", "system", "n", "value", "95 % interval", "p", "p (Holm)"}};
  for (size_t c = 0; c < columns.size(); ++c) {
    for (size_t s = 0; s < shown.values.size(); ++s) {
      const score::ImportedSeries& series = shown.scores->systems[s];
      const auto& interval = shown.intervals[s].columns[c];
      const Shown column(columns[c]);
      rows.push_back({columns[c], series.system, std::to_string(series.ids.size()),
                      column.value(shown.values[s][c].value),
                      interval ? fmt::format("[{}, {}]", column.value(interval->low),
                                             column.value(interval->high))
                               : shown.intervals[s].absent()});
    }
    for (const score::ImportedTest& test : shown.tests) {
      const metrics::PairedDifference& difference = test.differences[c];
      const Shown column(columns[c]);
      rows.push_back({columns[c], test.b + " - " + test.a, std::to_string(test.items),
                      column.change(difference.difference), column.interval(difference.interval),
                      p_text(test.p[c]), p_text(test.p_holm[c])});
    }
  }
  return aligned(rows) + "signature: " + shown.scores->metric->signature() + "\n";
}

json interval_json(bool available, double low, double high) {
  return available ? json::array({low, high}) : json(nullptr);
}

json metric_json(const score::AnalysedImport& shown) {
  const std::vector<std::string> columns = shown.scores->metric->columns();
  json systems = json::array();
  for (size_t s = 0; s < shown.values.size(); ++s) {
    json values = json::object();
    for (size_t c = 0; c < columns.size(); ++c) {
      const auto& interval = shown.intervals[s].columns[c];
      const Shown column(columns[c]);
      values[columns[c]] = {
          {"value", shown.values[s][c].value},
          {"interval", interval_json(interval.has_value(), interval ? interval->low : 0,
                                     interval ? interval->high : 0)}};
    }
    const score::ImportedSeries& series = shown.scores->systems[s];
    systems.push_back({{"system", series.system}, {"n", series.ids.size()}, {"scores", values}});
  }
  json tests = json::array();
  for (const score::ImportedTest& test : shown.tests) {
    json values = json::object();
    for (size_t c = 0; c < columns.size(); ++c) {
      const metrics::PairedDifference& d = test.differences[c];
      values[columns[c]] = {
          {"difference", d.difference},
          {"interval", interval_json(d.interval.available(), d.interval.low, d.interval.high)},
          {"p", test.p[c]},
          {"p_holm", test.p_holm[c]}};
    }
    tests.push_back({{"a", test.a}, {"b", test.b}, {"n", test.items}, {"scores", values}});
  }
  return {{"metric", shown.scores->metric->name()},
          {"signature", shown.scores->metric->signature()},
          {"systems", std::move(systems)},
          {"tests", std::move(tests)}};
}

}  // namespace

Result<ExitCode> run_score_import(const ScoreImportOptions& options, const GlobalOptions& global) {
  Result<std::vector<score::ImportedScores>> scores = score::read_imported_scores(options.files);
  if (!scores) return scores.error();
  if (!global.store.empty()) {
    Result<std::string> path = existing_store_path(global.store);
    if (!path) return path.error();
    const Result<int64_t> stored = store_imported_scores(*scores, options, *path);
    if (!stored) return stored.error();
    log_info(fmt::format("{} imported scores are in {}", *stored, *path));
    return ExitCode::ok;
  }
  const Result<std::vector<score::AnalysedImport>> shown =
      score::analyse_imported(*scores, options.resamples == 0 ? 10000 : options.resamples);
  if (!shown) return shown.error();
  std::string text;
  json metrics = json::array();
  for (const score::AnalysedImport& metric : *shown) {
    text += (text.empty() ? "" : "\n") + table_of(metric);
    metrics.push_back(metric_json(metric));
  }
  if (global.json) text = json_document("score-import", {{"metrics", std::move(metrics)}});
  if (Status printed = print_result(text); !printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace qfs::cli

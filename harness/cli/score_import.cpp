#include "harness/cli/score_import.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/api/metric_columns.h"
#include "harness/cli/catalogs.h"
#include "harness/cli/output.h"
#include "harness/cli/store_path.h"
#include "harness/core/log.h"
#include "metrics/stats/bootstrap.h"
#include "metrics/stats/randomization.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

/// The first system of the file beside another one, on the items that both have.
struct Tested {
  std::string a;
  std::string b;
  size_t items = 0;
  std::vector<metrics::PairedDifference> differences;  ///< b - a
  std::vector<double> p;
  std::vector<double> p_holm;
};

struct Shown {
  const ImportedScores* scores = nullptr;
  std::vector<std::vector<Score>> values;  ///< by system
  std::vector<score::ColumnIntervals> intervals;
  std::vector<Tested> tests;
};

Result<Tested> test_of(const ImportedSeries& a, const ImportedSeries& b, int64_t resamples) {
  std::map<std::string, size_t> rows_of_a;
  for (size_t i = 0; i < a.ids.size(); ++i) rows_of_a.emplace(a.ids[i], i);
  std::vector<Statistics> first;
  std::vector<Statistics> second;
  std::vector<Statistics> differences;
  std::vector<std::string> clusters;
  for (size_t i = 0; i < b.ids.size(); ++i) {
    const auto found = rows_of_a.find(b.ids[i]);
    if (found == rows_of_a.end()) continue;
    first.push_back(a.values[found->second]);
    second.push_back(b.values[i]);
    differences.push_back(b.values[i]);
    for (size_t c = 0; c < first.back().size(); ++c) differences.back()[c] -= first.back()[c];
    clusters.push_back(b.clusters[i]);
  }
  if (first.empty()) {
    return data_error(fmt::format("'{}' and '{}' have no id in common", a.system, b.system));
  }
  auto intervals =
      metrics::bootstrap_differences(second, first, clusters, {.resamples = resamples});
  if (!intervals) return intervals.error();
  auto p = metrics::randomization_p(differences, clusters, metrics::Alternative::different);
  if (!p) return p.error();
  return Tested{a.system, b.system, first.size(), *std::move(intervals), *std::move(p), {}};
}

/// Holm over everything that one command tests.
void adjust(std::vector<Shown>& shown) {
  std::vector<double> p;
  for (const Shown& metric : shown) {
    for (const Tested& test : metric.tests) p.insert(p.end(), test.p.begin(), test.p.end());
  }
  const std::vector<double> adjusted = metrics::holm_adjusted(p);
  auto next = adjusted.begin();
  for (Shown& metric : shown) {
    for (Tested& test : metric.tests) {
      const auto end = next + static_cast<std::ptrdiff_t>(test.p.size());
      test.p_holm.assign(next, end);
      next = end;
    }
  }
}

Result<std::vector<Shown>> analysed(const std::vector<ImportedScores>& scores, int64_t resamples) {
  const BootstrapIntervals bootstrap(resamples);
  std::vector<Shown> all;
  for (const ImportedScores& imported : scores) {
    Shown& shown = all.emplace_back();
    shown.scores = &imported;
    for (const ImportedSeries& series : imported.systems) {
      shown.values.push_back(imported.metric->aggregate(series.values));
      auto intervals = bootstrap.estimate(*imported.metric, series.values, series.clusters);
      if (!intervals) return intervals.error();
      shown.intervals.push_back(*std::move(intervals));
    }
    for (size_t i = 1; i < imported.systems.size(); ++i) {
      Result<Tested> test = test_of(imported.systems[0], imported.systems[i], resamples);
      if (!test) return test.error();
      shown.tests.push_back(*std::move(test));
    }
  }
  adjust(all);
  return all;
}

/// Shares times 100 with two decimals, others as they are with four.
std::string number(const std::string& column, double value, bool sign = false) {
  const double scaled = is_share(column) ? 100 * value : value;
  const int decimals = is_share(column) ? 2 : 4;
  return sign ? fmt::format("{:+.{}f}", scaled, decimals)
              : fmt::format("{:.{}f}", scaled, decimals);
}

std::string p_text(double p) { return p < 0.00005 ? "<0.0001" : fmt::format("{:.4f}", p); }

std::string table_of(const Shown& shown) {
  const std::vector<std::string> columns = shown.scores->metric->columns();
  std::vector<std::vector<std::string>> rows = {
      {"", "system", "n", "value", "95 % interval", "p", "p (Holm)"}};
  for (size_t c = 0; c < columns.size(); ++c) {
    for (size_t s = 0; s < shown.values.size(); ++s) {
      const ImportedSeries& series = shown.scores->systems[s];
      const auto& interval = shown.intervals[s].columns[c];
      rows.push_back({columns[c], series.system, std::to_string(series.ids.size()),
                      number(columns[c], shown.values[s][c].value),
                      interval ? fmt::format("[{}, {}]", number(columns[c], interval->low),
                                             number(columns[c], interval->high))
                               : fmt::format("n/a ({} clusters)", shown.intervals[s].clusters)});
    }
    for (const Tested& test : shown.tests) {
      const metrics::PairedDifference& difference = test.differences[c];
      const metrics::Interval& interval = difference.interval;
      rows.push_back({columns[c], test.b + " - " + test.a, std::to_string(test.items),
                      number(columns[c], difference.difference, true),
                      interval.available()
                          ? fmt::format("[{}, {}]", number(columns[c], interval.low, true),
                                        number(columns[c], interval.high, true))
                          : metrics::unavailable_interval_text(interval),
                      p_text(test.p[c]), p_text(test.p_holm[c])});
    }
  }
  return aligned(rows) + "signature: " + shown.scores->metric->signature() + "\n";
}

json interval_json(bool available, double low, double high) {
  return available ? json::array({low, high}) : json(nullptr);
}

json metric_json(const Shown& shown) {
  const std::vector<std::string> columns = shown.scores->metric->columns();
  json systems = json::array();
  for (size_t s = 0; s < shown.values.size(); ++s) {
    json values = json::object();
    for (size_t c = 0; c < columns.size(); ++c) {
      const auto& interval = shown.intervals[s].columns[c];
      values[columns[c]] = {
          {"value", shown.values[s][c].value},
          {"interval", interval_json(interval.has_value(), interval ? interval->low : 0,
                                     interval ? interval->high : 0)}};
    }
    const ImportedSeries& series = shown.scores->systems[s];
    systems.push_back({{"system", series.system}, {"n", series.ids.size()}, {"scores", values}});
  }
  json tests = json::array();
  for (const Tested& test : shown.tests) {
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
  Result<std::vector<ImportedScores>> scores = read_imported_scores(options);
  if (!scores) return scores.error();
  if (!global.store.empty()) {
    Result<std::string> path = existing_store_path(global.store);
    if (!path) return path.error();
    const Result<int64_t> stored = store_imported_scores(*scores, options, *path);
    if (!stored) return stored.error();
    log_info(fmt::format("{} imported scores are in {}", *stored, *path));
    return ExitCode::ok;
  }
  const Result<std::vector<Shown>> shown =
      analysed(*scores, options.resamples == 0 ? 10000 : options.resamples);
  if (!shown) return shown.error();
  std::string text;
  json metrics = json::array();
  for (const Shown& metric : *shown) {
    text += (text.empty() ? "" : "\n") + table_of(metric);
    metrics.push_back(metric_json(metric));
  }
  if (global.json) text = json_document("score-import", {{"metrics", std::move(metrics)}});
  if (Status printed = print_result(text); !printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace qfs::cli

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <utility>

#include "harness/score/bootstrap_intervals.h"
#include "harness/score/imported_scores.h"
#include "metrics/stats/randomization.h"

namespace qfs::score {
namespace {

Result<ImportedTest> test_of(const ImportedSeries& a, const ImportedSeries& b, int64_t resamples) {
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
    if (a.clusters[found->second] != clusters.back()) {
      return data_error(fmt::format(
          "'{}' is of cluster '{}' by '{}' and of '{}' by '{}'; tests exchange whole clusters",
          b.ids[i], a.clusters[found->second], a.system, clusters.back(), b.system));
    }
  }
  if (first.empty()) {
    return data_error(fmt::format("'{}' and '{}' have no id in common", a.system, b.system));
  }
  auto intervals =
      metrics::bootstrap_differences(second, first, clusters, {.resamples = resamples});
  if (!intervals) return intervals.error();
  auto p = metrics::randomization_p(differences, clusters, metrics::Alternative::different);
  if (!p) return p.error();
  return ImportedTest{a.system, b.system, first.size(), *std::move(intervals), *std::move(p), {}};
}

/// Holm over everything that one command tests.
void adjust(std::vector<AnalysedImport>& shown) {
  std::vector<double> p;
  for (const AnalysedImport& metric : shown) {
    for (const ImportedTest& test : metric.tests) p.insert(p.end(), test.p.begin(), test.p.end());
  }
  const std::vector<double> adjusted = metrics::holm_adjusted(p);
  auto next = adjusted.begin();
  for (AnalysedImport& metric : shown) {
    for (ImportedTest& test : metric.tests) {
      const auto end = next + static_cast<std::ptrdiff_t>(test.p.size());
      test.p_holm.assign(next, end);
      next = end;
    }
  }
}

}  // namespace

Result<std::vector<AnalysedImport>> analyse_imported(const std::vector<ImportedScores>& scores,
                                                     int64_t resamples) {
  const BootstrapIntervals bootstrap(resamples);
  std::vector<AnalysedImport> all;
  for (const ImportedScores& imported : scores) {
    AnalysedImport& shown = all.emplace_back();
    shown.scores = &imported;
    for (const ImportedSeries& series : imported.systems) {
      shown.values.push_back(imported.metric->aggregate(series.values));
      auto intervals = bootstrap.estimate(*imported.metric, series.values, series.clusters);
      if (!intervals) return intervals.error();
      shown.intervals.push_back(*std::move(intervals));
    }
    for (size_t i = 1; i < imported.systems.size(); ++i) {
      Result<ImportedTest> test = test_of(imported.systems[0], imported.systems[i], resamples);
      if (!test) return test.error();
      shown.tests.push_back(*std::move(test));
    }
  }
  adjust(all);
  return all;
}

}  // namespace qfs::score

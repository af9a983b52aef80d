#include "harness/score/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <utility>

#include "harness/core/build_info.h"
#include "harness/core/counted.h"
#include "harness/score/bootstrap_intervals.h"
#include "harness/score/run_signature.h"

namespace qfs::score {
namespace {

/// Above this many clusters the default is a tenth of the resamples: the interval's own noise is
/// smaller than its printed digits long before.
constexpr size_t kManyClusters = 5000;
constexpr int64_t kResamples = 10000;
constexpr int64_t kResamplesOfMany = 1000;

void sign(FileScore& score, const FileScores& scores) {
  const ScoredItems& items = scores.items;
  const RunFacts facts = {.items = items.ids.size(),
                          .fewest_references = items.fewest_references,
                          .most_references = items.most_references,
                          .missing_policy = to_string(scores.missing),
                          .missing = items.missing,
                          .empty_predictions = items.empty_predictions,
                          .empty_references = items.empty_references,
                          .unit = items.unit,
                          .intervals = scores.interval_method,
                          .dataset = items.dataset,
                          .postprocess = items.postprocess.text,
                          .version = std::string(build_info().version)};
  score.long_signature = long_signature(*score.score.metric, facts);
  score.short_signature = short_signature(*score.score.metric, facts);
  score.tool_signature =
      score.score.metric->tool_signature(items.fewest_references, items.most_references);
}

Result<std::vector<std::shared_ptr<const Metric>>> wanted(const std::vector<std::string>& names,
                                                          const MetricCatalog& catalog) {
  std::vector<std::shared_ptr<const Metric>> metrics;
  std::unordered_set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      return invalid_argument("metric '" + name + "' is given twice");
    }
    Result<std::shared_ptr<const Metric>> metric = catalog.make(name);
    if (!metric) return metric.error();
    metrics.push_back(*std::move(metric));
  }
  return metrics;
}

size_t cluster_count(const std::vector<std::string>& clusters) {
  return std::unordered_set<std::string_view>(clusters.begin(), clusters.end()).size();
}

std::vector<std::string> warnings_about(const ScoredItems& items) {
  std::vector<std::string> warnings;
  if (items.python_lists > 0) {
    warnings.push_back(
        fmt::format("references of {} were a Python list written as text; they "
                    "were read as the list",
                    counted(items.python_lists, "record")));
  }
  if (items.other_predictions > 0) {
    warnings.push_back("of repeated generations the first is scored, and " +
                       counted(items.other_predictions, "other is not", "others are not"));
  }
  if (items.dropped_repeats > 0) {
    warnings.push_back(counted(items.dropped_repeats, "row repeats an earlier one and was",
                               "rows repeat earlier ones and were") +
                       " left out");
  }
  if (const auto empty = std::ranges::count(items.empty_texts, true); empty > 0) {
    warnings.push_back(
        fmt::format("{} of {} empty: nothing, or white space alone", empty,
                    counted(items.ids.size(), "scored text is", "scored texts are")));
  }
  return warnings;
}

}  // namespace

std::string to_string(MissingPolicy policy) {
  switch (policy) {
    case MissingPolicy::error:
      return "error";
    case MissingPolicy::skip:
      return "skip";
    case MissingPolicy::zero:
      return "zero";
  }
  return "error";
}

MissingPolicy missing_policy(std::string_view name) {
  for (const MissingPolicy policy : {MissingPolicy::skip, MissingPolicy::zero}) {
    if (name == to_string(policy)) return policy;
  }
  return MissingPolicy::error;
}

Result<MeasuredFiles> measure_files(const FilesRequest& request, const DatasetCatalog& datasets,
                                    const MetricCatalog& metrics) {
  std::vector<std::string> names = request.metrics;
  if (names.empty()) names.emplace_back("rouge");
  Result<std::vector<std::shared_ptr<const Metric>>> chosen = wanted(names, metrics);
  if (!chosen) return chosen.error();
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  TextScorer scorer(*std::move(chosen),
                    {.threads = request.threads == 0 ? cores : request.threads});
  Result<ScoredItems> items = read_items(request, datasets, scorer);
  if (!items) return items.error();
  Result<std::vector<TextScore>> measured = scorer.finish();
  if (!measured) return measured.error();
  std::vector<std::string> warnings = warnings_about(*items);
  std::ranges::copy(scorer.notes().lines(), std::back_inserter(warnings));
  return MeasuredFiles{std::move(names), *std::move(items), *std::move(measured),
                       std::move(warnings)};
}

Result<FileScores> score_files(const FilesRequest& request, const DatasetCatalog& datasets,
                               const MetricCatalog& metrics) {
  Result<MeasuredFiles> measured = measure_files(request, datasets, metrics);
  if (!measured) return measured.error();
  FileScores scores;
  scores.items = std::move(measured->items);
  scores.warnings = std::move(measured->warnings);
  scores.missing = request.missing;
  const size_t clusters = cluster_count(scores.items.clusters);
  const int64_t resamples =
      request.resamples.value_or(clusters > kManyClusters ? kResamplesOfMany : kResamples);
  const BootstrapIntervals bootstrap(resamples);
  scores.interval_method = resamples == 0 ? kNoIntervals : bootstrap.method();
  for (size_t i = 0; i < measured->scores.size(); ++i) {
    FileScore score;
    score.name = measured->names[i];
    score.score = std::move(measured->scores[i]);
    score.intervals.columns.resize(score.score.columns.size());
    score.intervals.clusters = static_cast<int64_t>(clusters);
    if (resamples > 0) {
      Result<ColumnIntervals> intervals =
          bootstrap.estimate(*score.score.metric, score.score.statistics, scores.items.clusters);
      if (!intervals) return intervals.error();
      score.intervals = *std::move(intervals);
    }
    sign(score, scores);
    scores.scores.push_back(std::move(score));
  }
  return scores;
}

}  // namespace qfs::score

#include "harness/cli/score_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <utility>

#include "datasets/readers/catalog.h"
#include "harness/cli/output.h"
#include "harness/core/build_info.h"
#include "harness/core/counted.h"
#include "harness/core/log.h"
#include "harness/score/run_signature.h"

namespace qfs::cli {
namespace {

/// Above this many clusters the default is a tenth of the resamples: the interval's own noise is
/// smaller than its printed digits long before.
constexpr size_t kManyClusters = 5000;
constexpr int64_t kResamples = 10000;
constexpr int64_t kResamplesOfMany = 1000;

void sign(FileScore& score, const FileScores& scores) {
  const ScoredItems& items = scores.items;
  const score::RunFacts facts = {.items = items.ids.size(),
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
  score.long_signature = score::long_signature(*score.score.metric, facts);
  score.short_signature = score::short_signature(*score.score.metric, facts);
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

void warn_about(const ScoredItems& items) {
  if (items.python_lists > 0) {
    log_warning(
        fmt::format("references of {} were a Python list written as text; they "
                    "were read as the list",
                    counted(items.python_lists, "record")));
  }
  if (items.dropped_repeats > 0) {
    log_warning(counted(items.dropped_repeats, "row repeats an earlier one and was",
                        "rows repeat earlier ones and were") +
                " left out");
  }
  if (items.empty_texts > 0) {
    log_warning(fmt::format("{} of {} empty: nothing, or white space alone", items.empty_texts,
                            counted(items.ids.size(), "scored text is", "scored texts are")));
  }
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

Result<MeasuredFiles> measure_files(const ScoreFilesOptions& options, Catalogs& catalogs) {
  std::vector<std::string> names = options.metrics;
  if (names.empty()) names.emplace_back("rouge");
  Result<std::vector<std::shared_ptr<const Metric>>> metrics = wanted(names, catalogs.metrics());
  if (!metrics) return metrics.error();
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  score::TextScorer scorer(*std::move(metrics),
                           {.threads = options.threads == 0 ? cores : options.threads});
  Result<ScoredItems> items = read_items(options, catalogs.datasets(), scorer);
  if (!items) return items.error();
  warn_about(*items);
  Result<std::vector<score::TextScore>> measured = scorer.finish();
  if (!measured) return measured.error();
  for (const std::string& line : scorer.notes().lines()) log_warning(line);
  return MeasuredFiles{std::move(names), *std::move(items), *std::move(measured)};
}

Result<FileScores> score_files(const ScoreFilesOptions& options, Catalogs& catalogs) {
  Result<MeasuredFiles> measured = measure_files(options, catalogs);
  if (!measured) return measured.error();
  FileScores scores;
  scores.items = std::move(measured->items);
  scores.missing = options.missing;
  const size_t clusters = cluster_count(scores.items.clusters);
  const int64_t resamples =
      options.resamples.value_or(clusters > kManyClusters ? kResamplesOfMany : kResamples);
  const BootstrapIntervals bootstrap(resamples);
  scores.interval_method = resamples == 0 ? kNoIntervals : bootstrap.method();
  for (size_t i = 0; i < measured->scores.size(); ++i) {
    FileScore score;
    score.name = measured->names[i];
    score.score = std::move(measured->scores[i]);
    score.intervals.columns.resize(score.score.columns.size());
    score.intervals.clusters = static_cast<int64_t>(clusters);
    if (resamples > 0) {
      Result<score::ColumnIntervals> intervals =
          bootstrap.estimate(*score.score.metric, score.score.statistics, scores.items.clusters);
      if (!intervals) return intervals.error();
      score.intervals = *std::move(intervals);
    }
    sign(score, scores);
    scores.scores.push_back(std::move(score));
  }
  return scores;
}

namespace {

/// Whether a file lies in the folder of a data set that is given as NAME[:split[:view]].
bool is_of_dataset(const std::filesystem::path& file, const std::string& dataset) {
  if (dataset.empty()) return false;
  const datasets::CatalogOptions catalog = datasets::default_catalog_options();
  std::vector<std::string> folders = {catalog.program_folder};  // of the bundled ones
  for (const std::string& root : catalog.roots) {
    folders.push_back(root + "/" + dataset.substr(0, dataset.find(':')));
  }
  std::error_code ignored;  // a folder that is not there holds nothing
  for (auto own = std::filesystem::canonical(file, ignored).parent_path(); own.has_relative_path();
       own = own.parent_path()) {
    for (const std::string& folder : folders) {
      if (std::filesystem::equivalent(folder, own, ignored)) return true;
    }
  }
  return false;
}

/// The rows of --per-example must not replace what they are made of.
Status keeps_inputs(const ScoreFilesOptions& options) {
  std::error_code ignored;  // of a file that does not exist yet
  if (!std::filesystem::is_regular_file(options.per_example, ignored)) return {};
  if (is_of_dataset(options.per_example, options.references_dataset)) {
    return invalid_argument(fmt::format(
        "--per-example '{}' is a file of the data set '{}', and would be lost: write to "
        "another file",
        options.per_example, options.references_dataset));
  }
  std::vector<std::string> inputs = options.references;
  inputs.insert(inputs.end(), {options.records, options.predictions});
  for (const std::string& input : inputs) {
    if (std::filesystem::equivalent(input, options.per_example, ignored)) {
      return invalid_argument(
          fmt::format("--per-example '{}' is also read, and would be lost: write to another file",
                      options.per_example));
    }
  }
  return {};
}

}  // namespace

Result<ExitCode> run_score_files(const ScoreFilesOptions& options, const GlobalOptions& global) {
  if (Status kept = keeps_inputs(options); !kept) return kept.error();
  log_info("scoring files of predictions; no store is used");
  Catalogs catalogs;
  catalogs.set_metric_threads(options.threads);
  Result<FileScores> scores = score_files(options, catalogs);
  if (!scores) return scores.error();
  if (!options.per_example.empty()) {
    if (Status written = write_per_example(*scores, options.per_example); !written) {
      return written.error();
    }
    if (options.per_example == "-") return ExitCode::ok;  // the table would follow the lines
  }
  const std::string text =
      global.json ? scores_json(*scores) : scores_text(*scores, options.signature == "long");
  if (Status printed = print_result(text); !printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace qfs::cli

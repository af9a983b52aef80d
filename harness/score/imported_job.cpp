#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/core/suggest.h"
#include "harness/score/bootstrap_intervals.h"
#include "harness/score/imported_scores.h"
#include "harness/score/score.h"

namespace qfs::score {
namespace {

const Json kNoPostprocess{"[]"};

/// Ordinals and documents of a cell's examples by key.
std::map<std::string, const store::ExampleRow*> examples_of(
    const store::CellRow& cell, std::span<const store::ExampleRow> rows) {
  std::map<std::string, const store::ExampleRow*> examples;
  for (const store::ExampleRow& row : rows) {
    if (std::ranges::find(cell.ordinals, row.ordinal) != cell.ordinals.end()) {
      examples[row.key] = &row;
    }
  }
  return examples;
}

Error unknown_id(const std::string& id, const ImportedSeries& series,
                 const std::map<std::string, const store::ExampleRow*>& examples) {
  std::vector<std::string> keys;
  for (const auto& [key, row] : examples) keys.push_back(key);
  return data_error(fmt::format("id '{}' is no example of the cell '{}'{}", id, series.system,
                                suggestion(id, keys)));
}

}  // namespace

Result<store::ScoreJob> imported_job(const ImportedMetric& metric, const ImportedSeries& series,
                                     const store::CellRow& cell, const store::ResultRow& predict,
                                     std::span<const store::ExampleRow> rows, bool partial) {
  const auto examples = examples_of(cell, rows);
  struct Row {
    const store::ExampleRow* example;
    const Statistics* values;
  };
  std::vector<Row> found;
  for (size_t i = 0; i < series.ids.size(); ++i) {
    const auto example = examples.find(series.ids[i]);
    if (example == examples.end()) return unknown_id(series.ids[i], series, examples);
    found.push_back({example->second, &series.values[i]});
  }
  if (found.size() < cell.ordinals.size() && !partial) {
    return data_error(
        fmt::format("{} has scores of {} of the {} examples of the cell '{}'; "
                    "--partial stores them nevertheless",
                    metric.name(), found.size(), cell.ordinals.size(), series.system));
  }
  std::ranges::sort(found, {}, [](const Row& row) { return row.example->ordinal; });

  store::ScoreJob job;
  const store::ResultKey& key = predict.key;
  job.id = score_id(key.cell, key.numerics, kNoPostprocess, metric);
  job.result = predict.id;
  job.metric = metric.name();
  job.signature = metric.signature();
  job.postprocess = kNoPostprocess;
  job.columns = metric.columns();
  std::vector<Statistics> values;
  std::vector<std::string> clusters;
  for (const Row& row : found) {
    values.push_back(*row.values);
    clusters.push_back(row.example->document_id);
    job.statistics.push_back({row.example->ordinal, {}, *row.values});
  }
  const BootstrapIntervals bootstrap;
  const Result<ColumnIntervals> intervals = bootstrap.estimate(metric, values, clusters);
  if (!intervals) return intervals.error();
  const std::vector<Score> corpus = metric.aggregate(values);
  for (size_t c = 0; c < corpus.size(); ++c) {
    job.scores.push_back({corpus[c].name, corpus[c].value, intervals->columns[c]});
  }
  job.clusters = intervals->clusters;
  job.interval_method = bootstrap.method();
  return job;
}

}  // namespace qfs::score

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/cli/catalogs.h"
#include "harness/cli/chosen_places.h"
#include "harness/cli/score_import.h"
#include "harness/core/suggest.h"
#include "harness/score/score.h"
#include "harness/store/store.h"
#include "reports/sweep_facts.h"

namespace qfs::cli {
namespace {

const Json kNoPostprocess{"[]"};

/// The cell that a system of the file names.
Result<const reports::PlaceFacts*> place_of(const reports::SweepFacts& facts,
                                            const std::string& system) {
  if (system.empty() && facts.places.size() > 1) {
    return invalid_argument(
        "the scores name no system; --system method=lead,local_context=256, or a field 'system' "
        "in every record, says which cell they belong to");
  }
  auto places = matching_places(facts, "", system);
  if (!places) return places.error();
  if (places->size() > 1) return several_places(*places);
  if (!places->front()->predict) {
    return not_found("the cell of system '" + system + "' has no predictions");
  }
  return places->front();
}

/// Ordinals and documents of a cell's examples by key.
Result<std::map<std::string, const store::ExampleRow*>> examples_of(
    const store::CellRow& cell, const std::vector<store::ExampleRow>& rows) {
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

/// One series as the score of a result.
Result<store::ScoreJob> job_of(const score::ImportedMetric& metric, const ImportedSeries& series,
                               const reports::PlaceFacts& place,
                               const std::vector<store::ExampleRow>& rows,
                               const ScoreImportOptions& options) {
  auto examples = examples_of(place.cell, rows);
  if (!examples) return examples.error();
  struct Row {
    const store::ExampleRow* example;
    const Statistics* values;
  };
  std::vector<Row> found;
  for (size_t i = 0; i < series.ids.size(); ++i) {
    const auto example = examples->find(series.ids[i]);
    if (example == examples->end()) return unknown_id(series.ids[i], series, *examples);
    found.push_back({example->second, &series.values[i]});
  }
  if (found.size() < place.cell.ordinals.size() && !options.partial) {
    return data_error(
        fmt::format("{} has scores of {} of the {} examples of the cell '{}'; "
                    "--partial stores them nevertheless",
                    metric.name(), found.size(), place.cell.ordinals.size(), series.system));
  }
  std::ranges::sort(found, {}, [](const Row& row) { return row.example->ordinal; });

  store::ScoreJob job;
  const store::ResultKey& key = place.predict->key;
  job.id = score::score_id(key.cell, key.numerics, kNoPostprocess, metric);
  job.result = place.predict->id;
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
  const Result<score::ColumnIntervals> intervals = bootstrap.estimate(metric, values, clusters);
  if (!intervals) return intervals.error();
  const std::vector<Score> corpus = metric.aggregate(values);
  for (size_t c = 0; c < corpus.size(); ++c) {
    job.scores.push_back({corpus[c].name, corpus[c].value, intervals->columns[c]});
  }
  job.clusters = intervals->clusters;
  job.interval_method = bootstrap.method();
  return job;
}

}  // namespace

Result<int64_t> store_imported_scores(const std::vector<ImportedScores>& scores,
                                      const ScoreImportOptions& options,
                                      const std::string& store_path) {
  Result<store::Store> store = store::Store::open(store_path, {.create = false});
  if (!store) return store.error();
  Result<store::Reader> reader = store::Reader::open(store_path);
  if (!reader) return reader.error();
  const Result<reports::SweepFacts> facts = reports::load_sweep_facts(*reader, options.sweep);
  if (!facts) return facts.error();
  // Everything is checked before anything is written.
  std::vector<store::ScoreJob> jobs;
  for (const ImportedScores& imported : scores) {
    for (const ImportedSeries& series : imported.systems) {
      const auto place = place_of(*facts, series.system);
      if (!place) return place.error();
      const auto rows = reader->examples((*place)->cell.dataset);
      if (!rows) return rows.error();
      Result<store::ScoreJob> job = job_of(*imported.metric, series, **place, *rows, options);
      if (!job) return job.error();
      jobs.push_back(*std::move(job));
    }
  }
  for (const store::ScoreJob& job : jobs) {
    if (Status put = store->put_scores(job); !put) return put.error();
  }
  return static_cast<int64_t>(jobs.size());
}

}  // namespace qfs::cli

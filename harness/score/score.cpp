#include "harness/score/score.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/identity.h"
#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "harness/score/item_source.h"

namespace qfs::score {
namespace {

/// What one job works on.
struct Subject {
  store::ResultRow result;
  store::CellRow cell;
  std::vector<ScoreItem> items;  ///< by ordinal, with processed candidates
  int64_t refused = 0;           ///< outputs without an item: overlength
  Json postprocess{"[]"};        ///< the chain that made candidates of outputs
  std::vector<bool> processed;   ///< whether a candidate differs from its output
};

Error with_context(Error error, const Metric& metric, const Subject& subject) {
  error.message = "metric " + std::string(metric.name()) + " on cell " +
                  subject.cell.id.short_hex() + " (" + subject.cell.method + "): " + error.message;
  return error;
}

/// One row of as many numbers as columns per item; a metric that breaks this is not stored.
Status check_measured(const std::vector<Statistics>& measured, const Metric& metric, size_t items) {
  if (measured.size() != items) {
    return internal_error("gave " + std::to_string(measured.size()) + " rows for " +
                          std::to_string(items) + " examples");
  }
  const size_t columns = metric.columns().size();
  for (const Statistics& row : measured) {
    if (row.size() != columns) {
      return internal_error("gave " + std::to_string(row.size()) + " values for " +
                            std::to_string(columns) + " columns");
    }
  }
  return {};
}

std::vector<std::string> clusters_of(const std::vector<ScoreItem>& items) {
  std::vector<std::string> clusters;
  clusters.reserve(items.size());
  for (const ScoreItem& item : items) clusters.push_back(item.cluster);
  return clusters;
}

/// Adds intervals to a job whose statistics and scores are there.
Status add_intervals(store::ScoreJob& job, const Metric& metric,
                     const std::vector<Statistics>& statistics,
                     const std::vector<std::string>& clusters, const IntervalEstimator* estimator) {
  if (estimator == nullptr) return {};
  Result<ColumnIntervals> intervals = estimator->estimate(metric, statistics, clusters);
  if (!intervals) return intervals.error();
  if (intervals->columns.size() != job.scores.size()) {
    return internal_error("intervals of " + std::to_string(intervals->columns.size()) +
                          " columns, expected " + std::to_string(job.scores.size()));
  }
  for (size_t i = 0; i < job.scores.size(); ++i) job.scores[i].interval = intervals->columns[i];
  job.clusters = intervals->clusters;
  job.interval_method = estimator->method();
  return {};
}

store::ScoreJob empty_job(const ScoreId& id, const Subject& subject, const Metric& metric) {
  store::ScoreJob job;
  job.id = id;
  job.result = subject.result.id;
  job.metric = metric.name();
  job.signature = scored_signature(metric, subject.postprocess);
  job.postprocess = subject.postprocess;
  job.columns = metric.columns();
  return job;
}

/// Statistics and corpus values.
Result<store::ScoreJob> measured_job(const ScoreId& id, const Subject& subject,
                                     const Metric& metric, const IntervalEstimator* estimator) {
  Result<std::vector<Statistics>> measured = metric.measure(subject.items);
  if (!measured) return measured.error();
  if (Status sound = check_measured(*measured, metric, subject.items.size()); !sound) {
    return sound.error();
  }
  store::ScoreJob job = empty_job(id, subject, metric);
  for (const Score& score : metric.aggregate(*measured)) {
    job.scores.push_back({score.name, score.value, std::nullopt});
  }
  if (Status status = add_intervals(job, metric, *measured, clusters_of(subject.items), estimator);
      !status) {
    return status.error();
  }
  for (size_t i = 0; i < subject.items.size(); ++i) {
    const ScoreItem& item = subject.items[i];
    std::string processed;
    if (subject.processed[i]) {
      processed = sha256_hex(item.candidate);
      job.processed_texts.push_back(item.candidate);
    }
    job.statistics.push_back({item.id, std::move(processed), std::move((*measured)[i])});
  }
  return job;
}

}  // namespace

std::string scored_signature(const Metric& metric, const Json& postprocess) {
  if (postprocess.text == "[]") return metric.signature();
  return metric.signature() + "|post:" + postprocess.text;
}

ScoreId score_id(const CellId& cell, const NumericsId& numerics, const Json& postprocess,
                 const Metric& metric) {
  const nlohmann::json identity = {{"cell_id", cell.hex()},
                                   {"numerics_id", numerics.hex()},
                                   {"postprocess", postprocess.text},
                                   {"metric", metric.signature()}};
  return make_score_id(*canonical_json(identity));
}

struct Scorer::State {
  store::Store& store;
  store::Reader& reader;
  ItemSource source;

  /// Candidates with what the metric needs. An output that was skipped for its length is no
  /// prediction and has no item.
  Status read_items(Subject& subject, const Metric& metric, const Postprocess* postprocess);
  /// Another way of estimating intervals needs the stored statistics only.
  Result<store::ScoreJob> job_with_other_intervals(const ScoreId& id, const Subject& subject,
                                                   const Metric& metric,
                                                   const IntervalEstimator& estimator,
                                                   const store::ScoreJobRow& stored);
  Result<Subject> subject_of(store::ResultId result);
};

Scorer::Scorer(store::Store& store, store::Reader& reader)
    : state_(std::make_unique<State>(State{store, reader, ItemSource(reader)})) {}
Scorer::~Scorer() = default;

Status Scorer::use_dataset(std::shared_ptr<const Dataset> dataset) {
  return state_->source.use_dataset(std::move(dataset));
}

Result<Subject> Scorer::State::subject_of(store::ResultId id) {
  Result<store::ResultRow> result = reader.result(id);
  if (!result) return result.error();
  if (result->key.kind != store::ResultKind::predict) {
    return invalid_argument("result " + std::to_string(id.value) + " is a " +
                            std::string(to_string(result->key.kind)) +
                            " result; only predictions are scored");
  }
  Result<store::CellRow> cell = reader.cell(result->key.cell);
  if (!cell) return cell.error();
  Subject subject;
  subject.result = *std::move(result);
  subject.cell = *std::move(cell);
  return subject;
}

Status Scorer::State::read_items(Subject& subject, const Metric& metric,
                                 const Postprocess* postprocess) {
  Result<std::vector<store::OutputRow>> outputs = reader.outputs(subject.result.id);
  if (!outputs) return outputs.error();
  for (store::OutputRow& output : *outputs) {
    if (output.prediction.finish == FinishReason::overlength) {
      ++subject.refused;
      continue;
    }
    Result<ScoreItem> item = source.item(subject.cell.dataset, output.ordinal, metric.needs());
    if (!item) return item.error();
    item->candidate = output.prediction.text;
    if (postprocess != nullptr) {
      if (Status done = apply(*postprocess, *item); !done) return done.error();
    }
    subject.processed.push_back(item->candidate != output.prediction.text);
    subject.items.push_back(*std::move(item));
  }
  return {};
}

Result<store::ScoreJob> Scorer::State::job_with_other_intervals(const ScoreId& id,
                                                                const Subject& subject,
                                                                const Metric& metric,
                                                                const IntervalEstimator& estimator,
                                                                const store::ScoreJobRow& stored) {
  Result<std::vector<store::StatisticRow>> rows = reader.statistics(id);
  if (!rows) return rows.error();
  std::vector<Statistics> statistics;
  std::vector<std::string> clusters;
  for (const store::StatisticRow& row : *rows) {
    Result<ScoreItem> item = source.item(subject.cell.dataset, row.ordinal, {.references = false});
    if (!item) return item.error();
    statistics.push_back(row.values);
    clusters.push_back(std::move(item->cluster));
  }
  store::ScoreJob job = empty_job(id, subject, metric);
  job.scores = stored.scores;
  job.statistics = *std::move(rows);
  Status status = add_intervals(job, metric, statistics, clusters, &estimator);
  if (!status) return status.error();
  return job;
}

Result<ScoreOutcome> Scorer::score(store::ResultId result, const Metric& metric,
                                   const ScoreOptions& options) {
  Result<Subject> subject = state_->subject_of(result);
  if (!subject) return subject.error();
  const store::ResultKey& key = subject->result.key;
  ScoreOutcome outcome;
  if (options.postprocess != nullptr) subject->postprocess = options.postprocess->chain();
  outcome.id = score_id(key.cell, key.numerics, subject->postprocess, metric);
  outcome.expected = static_cast<int64_t>(subject->cell.ordinals.size());

  Result<std::optional<store::ScoreJobRow>> stored = state_->reader.score(outcome.id);
  if (!stored) return stored.error();
  const bool complete = stored->has_value() && (*stored)->n == outcome.expected;
  const IntervalEstimator* const estimator = options.intervals;
  const bool same_intervals =
      stored->has_value() &&
      (estimator == nullptr || (*stored)->interval_method == estimator->method());
  if (complete && same_intervals) {
    outcome.action = ScoreAction::kept;
    outcome.n = outcome.expected;
    return outcome;
  }

  Result<store::ScoreJob> job = internal_error("no job");
  if (complete) {
    job = state_->job_with_other_intervals(outcome.id, *subject, metric, *estimator, **stored);
  } else {
    Status read = state_->read_items(*subject, metric, options.postprocess);
    if (!read) return with_context(read.error(), metric, *subject);
    outcome.n = static_cast<int64_t>(subject->items.size());
    outcome.refused = subject->refused;
    if (outcome.n == 0 || (outcome.n < outcome.expected && !options.allow_partial)) {
      outcome.action = ScoreAction::incomplete;
      return outcome;
    }
    if (same_intervals && (*stored)->n == outcome.n) {
      outcome.action = ScoreAction::kept;
      return outcome;
    }
    job = measured_job(outcome.id, *subject, metric, estimator);
    outcome.notes.add(metric, subject->items);
  }
  if (!job) return with_context(job.error(), metric, *subject);
  outcome.n = static_cast<int64_t>(job->statistics.size());
  if (Status put = state_->store.put_scores(*job); !put) {
    return with_context(put.error(), metric, *subject);
  }
  return outcome;
}

}  // namespace qfs::score

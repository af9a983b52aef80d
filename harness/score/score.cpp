#include "harness/score/score.h"

#include <utility>

#include "harness/core/identity.h"
#include "harness/score/item_source.h"
#include "harness/score/score_job.h"

namespace qfs::score {
namespace {

Error with_context(Error error, const Metric& metric, const Subject& subject) {
  error.message = "metric " + std::string(metric.name()) + " on cell " +
                  subject.cell.id.short_hex() + " (" + subject.cell.method + "): " + error.message;
  return error;
}

}  // namespace

std::string scored_signature(const Metric& metric, const Json& postprocess) {
  if (postprocess.text == "[]") return metric.signature();
  return metric.signature() + "|post:" + postprocess.text;
}

ScoreId score_id(const CellId& cell, const NumericsId& numerics, const Json& postprocess,
                 const Metric& metric) {
  return make_score_id(cell, numerics, postprocess, metric.signature());
}

struct Scorer::State {
  store::Store& store;
  store::Reader& reader;
  ItemSource source;

  /// Another way of estimating intervals needs the stored statistics only.
  Result<store::ScoreJob> job_with_other_intervals(const ScoreId& id, const Subject& subject,
                                                   const Metric& metric,
                                                   const BootstrapIntervals& estimator,
                                                   const store::ScoreJobRow& stored);
};

Scorer::Scorer(store::Store& store, store::Reader& reader)
    : state_(std::make_unique<State>(State{store, reader, ItemSource(reader)})) {}
Scorer::~Scorer() = default;

Status Scorer::use_dataset(std::shared_ptr<const Dataset> dataset) {
  return state_->source.use_dataset(std::move(dataset));
}

Result<store::ScoreJob> Scorer::State::job_with_other_intervals(const ScoreId& id,
                                                                const Subject& subject,
                                                                const Metric& metric,
                                                                const BootstrapIntervals& estimator,
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
  Result<Subject> subject = subject_of(state_->reader, result);
  if (!subject) return subject.error();
  const store::ResultKey& key = subject->result.key;
  ScoreOutcome outcome;
  if (options.postprocess != nullptr) subject->postprocess = options.postprocess->chain();
  outcome.id = score_id(key.cell, key.numerics, subject->postprocess, metric);
  outcome.expected = static_cast<int64_t>(subject->cell.ordinals.size());

  Result<std::optional<store::ScoreJobRow>> stored = state_->reader.score(outcome.id);
  if (!stored) return stored.error();
  const bool complete = stored->has_value() && (*stored)->n == outcome.expected;
  const BootstrapIntervals* const estimator = options.intervals;
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
    Status read = read_items(state_->reader, state_->source, metric, options.postprocess, *subject);
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

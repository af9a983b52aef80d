#include "harness/score/score_job.h"

#include <utility>

#include "harness/core/sha256.h"

namespace qfs::score {
namespace {

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

}  // namespace

Result<Subject> subject_of(store::Reader& reader, store::ResultId id) {
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

Status read_items(store::Reader& reader, ItemSource& source, const Metric& metric,
                  const Postprocess* postprocess, Subject& subject) {
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

Status add_intervals(store::ScoreJob& job, const Metric& metric,
                     const std::vector<Statistics>& statistics,
                     const std::vector<std::string>& clusters,
                     const BootstrapIntervals* estimator) {
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

Result<store::ScoreJob> measured_job(const ScoreId& id, const Subject& subject,
                                     const Metric& metric, const BootstrapIntervals* estimator) {
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

}  // namespace qfs::score

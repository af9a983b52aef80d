// Score jobs: stored whole or not at all.
#include <algorithm>
#include <cmath>
#include <string>

#include "harness/core/clock.h"
#include "harness/store/codec.h"
#include "harness/store/score_queries.h"
#include "harness/store/store_state.h"

namespace qfs::store {
namespace {

Error refused(const ScoreJob& job, const std::string& why, const std::string& path) {
  return internal_error(
      "scores of " + job.metric + " for result " + std::to_string(job.result.value) + ": " + why,
      path);
}

/// A column per statistic, statistics ascending and finite, a score per column.
Status check_job(const ScoreJob& job, const ResultFacts& facts, const std::string& path) {
  if (facts.kind != ResultKind::predict) return refused(job, "not a predict result", path);
  if (job.statistics.empty()) return refused(job, "no example was scored", path);
  if (job.scores.size() != job.columns.size()) {
    return refused(job, "one value a column was expected", path);
  }
  int64_t previous = -1;
  for (const StatisticRow& row : job.statistics) {
    const std::string example = "example " + std::to_string(row.ordinal);
    if (row.ordinal <= previous) return refused(job, example + " is out of order", path);
    if (row.values.size() != job.columns.size()) {
      return refused(job, example + " has another number of values than columns", path);
    }
    for (const double value : row.values) {
      if (!std::isfinite(value))
        return refused(job, example + " has a value that is no number", path);
    }
    previous = row.ordinal;
  }
  for (const ScoreRow& score : job.scores) {
    const bool finite =
        std::isfinite(score.value) && (!score.interval || (std::isfinite(score.interval->low) &&
                                                           std::isfinite(score.interval->high)));
    if (!finite) return refused(job, score.name + " is no number", path);
  }
  return {};
}

bool equal_values(const ScoreJob& job, const ScoreJobRow& stored) {
  const auto equal = [](const ScoreRow& a, const ScoreRow& b) {
    return a.name == b.name && a.value == b.value;
  };
  return job.columns == stored.columns &&
         std::equal(job.scores.begin(), job.scores.end(), stored.scores.begin(),
                    stored.scores.end(), equal);
}

bool equal_intervals(const ScoreJob& job, const ScoreJobRow& stored) {
  return job.scores == stored.scores && job.clusters == stored.clusters &&
         job.interval_method == stored.interval_method;
}

void delete_job(Connection& db, const ScoreId& id) {
  for (const char* const sql :
       {"DELETE FROM statistic WHERE score_job_id = (SELECT score_job_id FROM score_job WHERE"
        " score_id = ?)",
        "DELETE FROM score WHERE score_job_id = (SELECT score_job_id FROM score_job WHERE"
        " score_id = ?)",
        "DELETE FROM score_job WHERE score_id = ?"}) {
    db.run(sql, id.hex());
  }
}

void insert_job(StoreState& state, const ScoreJob& job) {
  Connection& db = state.db;
  state.expect_json(job.postprocess, "the postprocess chain of a score");
  db.run(
      "INSERT INTO score_job (score_id, result_id, metric, signature, postprocess, columns, n,"
      " clusters, interval_method, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      job.id.hex(), job.result.value, job.metric, job.signature, job.postprocess.text,
      encode_strings(job.columns), static_cast<int64_t>(job.statistics.size()), job.clusters,
      job.interval_method, wall_clock_utc());
  const int64_t row = db.last_row_id();
  for (size_t i = 0; i < job.scores.size(); ++i) {
    const ScoreRow& score = job.scores[i];
    std::optional<double> low;
    std::optional<double> high;
    if (score.interval) {
      low = score.interval->low;
      high = score.interval->high;
    }
    db.run(
        "INSERT INTO score (score_job_id, position, name, value, low, high)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        row, static_cast<int64_t>(i), score.name, score.value, low, high);
  }
  for (const std::string& text : job.processed_texts) state.put_text(text);
  for (const StatisticRow& statistic : job.statistics) {
    std::optional<std::string_view> processed;
    if (!statistic.processed_sha256.empty()) processed = statistic.processed_sha256;
    db.run(
        "INSERT INTO statistic (score_job_id, ordinal, processed_sha256, \"values\")"
        " VALUES (?, ?, ?, ?)",
        row, statistic.ordinal, processed, encode_reals(statistic.values));
  }
}

}  // namespace

Status Store::put_scores(const ScoreJob& job) {
  const Result<const ResultFacts*> facts = state_->facts_of(job.result);
  if (!facts) return facts.error();
  if (Status status = check_job(job, **facts, path()); !status) return status;
  Result<std::optional<ScoreJobRow>> stored = score_job(state_->db, job.id);
  if (!stored) return stored.error();

  Connection& db = state_->db;
  Transaction transaction(db, "store.before_score_commit");
  if (stored->has_value()) {
    const auto n = static_cast<int64_t>(job.statistics.size());
    if (n < (*stored)->n) return {};
    if (n == (*stored)->n && !equal_values(job, **stored)) {
      return data_error("the metric " + job.metric +
                            " gives other values than the ones stored under its signature (" +
                            job.signature +
                            "); a change of a metric needs a change of its signature",
                        path());
    }
    if (n == (*stored)->n && equal_intervals(job, **stored)) return {};
    delete_job(db, job.id);
  }
  insert_job(*state_, job);
  return transaction.commit();
}

Result<bool> Store::has_scores(const ScoreId& id) {
  const Result<std::optional<ScoreJobRow>> stored = score_job(state_->db, id);
  if (!stored) return stored.error();
  return stored->has_value() && (*stored)->n == (*stored)->expected;
}

}  // namespace qfs::store

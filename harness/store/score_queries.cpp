#include "harness/store/score_queries.h"

#include <string>
#include <utility>

#include "harness/store/codec.h"
#include "harness/store/row_queries.h"

namespace qfs::store {
namespace {

std::string job_sql(const char* condition) {
  return std::string(
             "SELECT j.score_id, j.result_id, j.metric, j.signature, j.postprocess, j.columns,"
             " j.clusters, j.interval_method, j.n, c.expected, j.score_job_id FROM score_job j"
             " JOIN result r USING (result_id) JOIN cell c USING (cell_id) WHERE ") +
         condition + " ORDER BY j.metric, j.signature";
}

struct FoundJob {
  int64_t row = 0;
  ScoreJobRow job;
};

Result<std::vector<FoundJob>> read_jobs(Connection& db, Query rows) {
  std::vector<FoundJob> found;
  while (rows.next()) {
    FoundJob& entry = found.emplace_back();
    ScoreJobRow& job = entry.job;
    job.id = ScoreId(rows.text(0));
    job.result = ResultId{rows.integer(1)};
    job.metric = rows.text(2);
    job.signature = rows.text(3);
    job.postprocess = Json{rows.text(4)};
    std::optional<std::vector<std::string>> columns = decode_strings(rows.text(5));
    if (!columns) return damaged(db, "score job " + job.id.short_hex());
    job.columns = *std::move(columns);
    job.clusters = rows.integer(6);
    job.interval_method = rows.text(7);
    job.n = rows.integer(8);
    job.expected = rows.integer(9);
    entry.row = rows.integer(10);
  }
  return db.finish(std::move(found));
}

Result<std::vector<ScoreJobRow>> with_scores(Connection& db, Result<std::vector<FoundJob>> found) {
  if (!found) return found.error();
  std::vector<ScoreJobRow> jobs;
  for (FoundJob& entry : *found) {
    Query rows = db.query(
        "SELECT name, value, low, high FROM score WHERE score_job_id = ? ORDER BY position",
        entry.row);
    while (rows.next()) {
      ScoreRow& score = entry.job.scores.emplace_back();
      score.name = rows.text(0);
      score.value = rows.real(1);
      if (!rows.null(2)) score.interval = ScoreInterval{rows.real(2), rows.real(3)};
    }
    jobs.push_back(std::move(entry.job));
  }
  return db.finish(std::move(jobs));
}

}  // namespace

Result<std::optional<ScoreJobRow>> score_job(Connection& db, const ScoreId& id) {
  return at_most_one(with_scores(db, read_jobs(db, db.query(job_sql("j.score_id = ?"), id.hex()))));
}

Result<std::vector<ScoreJobRow>> score_jobs(Connection& db, ResultId result) {
  return with_scores(db, read_jobs(db, db.query(job_sql("j.result_id = ?"), result.value)));
}

Result<std::vector<StatisticRow>> score_statistics(Connection& db, const ScoreId& id) {
  std::vector<StatisticRow> statistics;
  Query rows = db.query(
      "SELECT s.ordinal, s.processed_sha256, s.\"values\", j.columns, j.metric FROM statistic s"
      " JOIN score_job j USING (score_job_id) WHERE j.score_id = ? ORDER BY s.ordinal",
      id.hex());
  std::optional<std::vector<std::string>> columns;
  while (rows.next()) {
    if (!columns) columns = decode_strings(rows.text(3));
    std::optional<std::vector<double>> values = decode_reals(rows.text(2));
    if (!values || !columns || values->size() != columns->size()) {
      return damaged(db, "the statistics of example " + std::to_string(rows.integer(0)) +
                             " in score " + id.short_hex() + " by '" + rows.text(4) + "'");
    }
    statistics.push_back({rows.integer(0), rows.text(1), *std::move(values)});
  }
  return db.finish(std::move(statistics));
}

}  // namespace qfs::store

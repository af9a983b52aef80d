// Scores from another store, and everything there that contradicts what is here.
#include <string>

#include "harness/store/merge_steps.h"

namespace qfs::store {
namespace {

/// A score belongs to the outputs that it was made of: each of them must be the one that is here.
constexpr const char* kOfOtherOutputs =
    " EXISTS (SELECT 1 FROM source.statistic t"
    " LEFT JOIN source.output s ON s.result_id = j.result_id AND s.ordinal = t.ordinal"
    " LEFT JOIN main.output d ON d.result_id = m.here AND d.ordinal = t.ordinal"
    " WHERE t.score_job_id = j.score_job_id"
    " AND (s.output_sha256 IS NULL OR d.output_sha256 IS NULL"
    " OR s.output_sha256 <> d.output_sha256))";

const std::string& jobs_there() {
  static const std::string sql =
      " FROM source.score_job j JOIN temp.merge_result m ON m.there = j.result_id"
      " LEFT JOIN main.score_job h ON h.score_id = j.score_id";
  return sql;
}

void add_conflicts(Connection& db, const std::string& count, const std::string& list,
                   MergeOutcome& outcome) {
  outcome.conflicts += db.integer(count);
  Query rows = db.query(list, kMostShownConflicts - static_cast<int64_t>(outcome.shown.size()));
  while (rows.next()) {
    outcome.shown.push_back({CellId(rows.text(0)), NumericsId(rows.text(1)), rows.text(2),
                             rows.text(3), rows.text(4), rows.text(5), EnvironmentId(rows.text(6)),
                             EnvironmentId(rows.text(7))});
  }
}

}  // namespace

void merge_scores(Connection& db, MergeOutcome& outcome) {
  db.run("INSERT INTO temp.merge_score (score_id) SELECT j.score_id" + jobs_there() +
         " WHERE (h.score_id IS NULL OR (h.n < j.n AND h.result_id = m.here)) AND NOT" +
         kOfOtherOutputs);
  outcome.scores_left += db.integer("SELECT count(*)" + jobs_there() +
                                    " WHERE h.score_id IS NULL AND" + kOfOtherOutputs);
  for (const char* const part : {"statistic", "score"}) {
    db.run(std::string("DELETE FROM main.") + part +
           " WHERE score_job_id IN (SELECT h.score_job_id FROM main.score_job h"
           " JOIN temp.merge_score USING (score_id))");
  }
  db.run("DELETE FROM main.score_job WHERE score_id IN (SELECT score_id FROM temp.merge_score)");
  outcome.scores += rows_changed(
      db,
      "INSERT INTO main.score_job (score_id, result_id, metric, signature, postprocess, columns, n,"
      " clusters, interval_method, created_at)"
      " SELECT j.score_id, m.here, j.metric, j.signature, j.postprocess, j.columns, j.n,"
      " j.clusters, j.interval_method, j.created_at FROM source.score_job j"
      " JOIN temp.merge_score USING (score_id)"
      " JOIN temp.merge_result m ON m.there = j.result_id ORDER BY j.score_job_id");
  db.run(
      "INSERT INTO main.score (score_job_id, position, name, value, low, high)"
      " SELECT h.score_job_id, s.position, s.name, s.value, s.low, s.high FROM source.score s"
      " JOIN source.score_job j USING (score_job_id) JOIN temp.merge_score USING (score_id)"
      " JOIN main.score_job h USING (score_id)");
  db.run(
      "INSERT INTO main.statistic (score_job_id, ordinal, processed_sha256, \"values\")"
      " SELECT h.score_job_id, s.ordinal, s.processed_sha256, s.\"values\" FROM source.statistic s"
      " JOIN source.score_job j USING (score_job_id) JOIN temp.merge_score USING (score_id)"
      " JOIN main.score_job h USING (score_id)");
}

void find_conflicts(Connection& db, MergeOutcome& outcome) {
  const std::string outputs =
      " FROM source.output s JOIN temp.merge_result m ON m.there = s.result_id"
      " JOIN main.output d ON d.result_id = m.here AND d.ordinal = s.ordinal"
      " JOIN main.result r ON r.result_id = m.here JOIN main.cell c USING (cell_id)"
      " JOIN source.attempt b ON b.attempt_id = s.attempt_id"
      " JOIN main.attempt a ON a.attempt_id = d.attempt_id"
      " WHERE d.output_sha256 <> s.output_sha256";
  add_conflicts(
      db, "SELECT count(*)" + outputs,
      "SELECT r.cell_id, r.numerics_id, c.method, 'example ' || s.ordinal,"
      " substr(d.text, 1, 80), substr(s.text, 1, 80), a.environment_id, b.environment_id" +
          outputs + " ORDER BY r.cell_id, r.numerics_id, s.ordinal LIMIT ?",
      outcome);
  const std::string artifacts =
      " FROM source.artifact s JOIN temp.merge_result m ON m.there = s.result_id"
      " JOIN main.artifact d ON d.result_id = m.here AND d.role = s.role"
      " JOIN main.result r ON r.result_id = m.here JOIN main.cell c USING (cell_id)"
      " JOIN source.attempt b ON b.attempt_id = s.attempt_id"
      " JOIN main.attempt a ON a.attempt_id = d.attempt_id WHERE d.sha256 <> s.sha256";
  add_conflicts(db, "SELECT count(*)" + artifacts,
                "SELECT r.cell_id, r.numerics_id, c.method, 'artifact ''' || s.role || '''',"
                " d.sha256, s.sha256, a.environment_id, b.environment_id" +
                    artifacts + " ORDER BY r.cell_id, r.numerics_id, s.role LIMIT ?",
                outcome);
  const std::string scores = jobs_there() +
                             " JOIN source.score s ON s.score_job_id = j.score_job_id"
                             " JOIN main.score d ON d.score_job_id = h.score_job_id"
                             " AND d.position = s.position"
                             " JOIN main.result r ON r.result_id = m.here"
                             " JOIN main.cell c USING (cell_id) WHERE h.n = j.n"
                             " AND (d.name <> s.name OR d.value <> s.value) AND NOT" +
                             kOfOtherOutputs;
  add_conflicts(db, "SELECT count(*)" + scores,
                "SELECT r.cell_id, r.numerics_id, c.method, j.metric || ' ' || s.name, d.value,"
                " s.value, '', ''" +
                    scores + " ORDER BY r.cell_id, r.numerics_id, j.score_id, s.position LIMIT ?",
                outcome);
}

}  // namespace qfs::store

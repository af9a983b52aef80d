// Results with their derived status, outputs, conflicts, measurements, scores.
#include <string>
#include <utility>

#include "harness/store/codec.h"
#include "harness/store/process_identity.h"
#include "harness/store/reader_state.h"
#include "harness/store/row_queries.h"
#include "harness/store/score_queries.h"

namespace qfs::store {
namespace {

/// ResultRow from columns `first`… of kResultColumns.
Result<ResultRow> read_result(Connection& db, const Query& rows) {
  ResultRow row;
  row.id = ResultId{rows.integer(0)};
  const std::optional<ResultKind> kind = result_kind_from(rows.text(3));
  const std::optional<FailureKind> failure = failure_kind_from(rows.text(7));
  const std::optional<AttemptState> state = attempt_state_from(rows.text(6));
  const bool attempted = !rows.null(6);
  if (!kind || !failure || state.has_value() != attempted)
    return damaged(db, "result " + std::to_string(row.id.value));
  row.key = {CellId(rows.text(1)), NumericsId(rows.text(2)), *kind};
  row.done = rows.integer(4);
  row.expected = rows.integer(5);
  if (row.expected <= 0) return damaged(db, "result " + std::to_string(row.id.value));
  row.running = state == AttemptState::running &&
                is_running({rows.integer(9), rows.integer(10), rows.text(11)});
  if (row.done >= row.expected) {
    row.status = Completeness::complete;
  } else if (state == AttemptState::failed) {
    row.status = Completeness::failed;
    row.failure = *failure;
    row.failure_text = rows.text(8);
  } else if (attempted || row.done > 0) {
    row.status = Completeness::incomplete;
  }
  return row;
}

/// The status of a result is this query: counts of what is there, and how the last attempt ended.
std::string result_sql(const char* tables, const char* condition) {
  return std::string(
             "SELECT r.result_id, r.cell_id, r.numerics_id, r.kind,"
             " CASE r.kind"
             "  WHEN 'predict' THEN (SELECT count(*) FROM output o WHERE o.result_id = r.result_id)"
             "  WHEN 'measure' THEN"
             "   (SELECT count(*) FROM repetition m WHERE m.result_id = r.result_id)"
             "  ELSE (SELECT count(*) FROM artifact t WHERE t.result_id = r.result_id) END,"
             " CASE r.kind WHEN 'predict' THEN c.expected WHEN 'measure' THEN r.repetitions"
             "  ELSE CASE json_valid(r.roles) WHEN 1 THEN json_array_length(r.roles) END END,"
             " a.state, coalesce(a.failure_kind, 'none'), coalesce(a.failure_text, ''),"
             " a.pid, a.process_start, a.boot_id, ") +
         tables + condition;
}

constexpr const char* kResultTables =
    "0 FROM result r JOIN cell c USING (cell_id) LEFT JOIN attempt a ON a.attempt_id ="
    " (SELECT max(b.attempt_id) FROM attempt b WHERE b.result_id = r.result_id)";

constexpr const char* kSweepTables =
    "s.position FROM sweep_result s JOIN result r USING (result_id)"
    " JOIN cell c ON c.cell_id = r.cell_id LEFT JOIN attempt a ON a.attempt_id ="
    " (SELECT max(b.attempt_id) FROM attempt b WHERE b.result_id = r.result_id)";

Result<std::vector<ResultRow>> read_results(Connection& db, Query rows) {
  std::vector<ResultRow> results;
  while (rows.next()) {
    Result<ResultRow> row = read_result(db, rows);
    if (!row) return row.error();
    results.push_back(*std::move(row));
  }
  return db.finish(std::move(results));
}

EnvironmentRow read_environment(const Query& rows) {
  return {EnvironmentId(rows.text(0)), NumericsId(rows.text(1)), Json{rows.text(2)},
          Json{rows.text(3)}, Json{rows.text(4)}};
}

constexpr const char* kEnvironmentColumns =
    "SELECT environment_id, numerics_id, numerics, host, build FROM environment";

}  // namespace

Result<std::vector<ResultRow>> Reader::results(const CellId& cell) {
  return read_results(state_->db,
                      state_->db.query(result_sql(kResultTables,
                                                  " WHERE r.cell_id = ? ORDER BY r.kind,"
                                                  " r.numerics_id"),
                                       cell.hex()));
}

Result<std::vector<SweepResult>> Reader::results_of_sweep(const SweepId& sweep) {
  Connection& db = state_->db;
  std::vector<SweepResult> results;
  Query rows = db.query(
      result_sql(kSweepTables, " WHERE s.sweep_id = ? ORDER BY s.position, r.kind"), sweep.hex());
  constexpr int kPositionColumn = 12;
  while (rows.next()) {
    Result<ResultRow> row = read_result(db, rows);
    if (!row) return row.error();
    results.push_back({rows.integer(kPositionColumn), *std::move(row)});
  }
  return db.finish(std::move(results));
}

Result<std::optional<ResultRow>> Reader::find_result(const ResultKey& key) {
  Query rows = state_->db.query(
      result_sql(kResultTables, " WHERE r.cell_id = ? AND r.numerics_id = ? AND r.kind = ?"),
      key.cell.hex(), key.numerics.hex(), to_string(key.kind));
  return at_most_one(read_results(state_->db, std::move(rows)));
}

Result<ResultRow> Reader::result(ResultId id) {
  Result<std::vector<ResultRow>> found = read_results(
      state_->db, state_->db.query(result_sql(kResultTables, " WHERE r.result_id = ?"), id.value));
  if (!found) return found.error();
  if (found->empty()) {
    return not_found("the store has no result " + std::to_string(id.value), state_->db.path());
  }
  return std::move(found->front());
}

Result<std::vector<AttemptRow>> Reader::attempts(ResultId result) {
  return attempts_of(state_->db, result);
}

Result<EnvironmentRow> Reader::environment(const EnvironmentId& id) {
  Connection& db = state_->db;
  Query rows = db.query(std::string(kEnvironmentColumns) + " WHERE environment_id = ?", id.hex());
  if (rows.next()) return read_environment(rows);
  if (Status status = db.finish(); !status) return status.error();
  return not_found("no environment has the id " + id.short_hex(), db.path());
}

Result<std::optional<EnvironmentRow>> Reader::environment_of(const NumericsId& id) {
  Connection& db = state_->db;
  std::optional<EnvironmentRow> environment;
  Query rows = db.query(
      std::string(kEnvironmentColumns) + " WHERE numerics_id = ? ORDER BY created_at LIMIT 1",
      id.hex());
  if (rows.next()) environment = read_environment(rows);
  return db.finish(std::move(environment));
}

Result<std::vector<MeasurementRow>> Reader::measurements(ResultId result) {
  Connection& db = state_->db;
  std::vector<MeasurementRow> measurements;
  Query rows = db.query(
      "SELECT repetition, unit, phase, ns, tokens FROM measurement WHERE result_id = ?"
      " ORDER BY repetition, unit, phase",
      result.value);
  while (rows.next()) {
    measurements.push_back(
        {rows.integer(0), rows.integer(1), rows.text(2), rows.integer(3), rows.integer(4)});
  }
  return db.finish(std::move(measurements));
}

Result<std::vector<MemoryRow>> Reader::memory(ResultId result) {
  Connection& db = state_->db;
  std::vector<MemoryRow> memory;
  Query rows = db.query(
      "SELECT repetition, kind, bytes FROM memory WHERE result_id = ? ORDER BY repetition, kind",
      result.value);
  while (rows.next()) memory.push_back({rows.integer(0), rows.text(1), rows.integer(2)});
  return db.finish(std::move(memory));
}

Result<std::vector<ScoreJobRow>> Reader::scores(ResultId result) {
  return score_jobs(state_->db, result);
}

Result<std::optional<ScoreJobRow>> Reader::score(const ScoreId& id) {
  return score_job(state_->db, id);
}

Result<std::vector<StatisticRow>> Reader::statistics(const ScoreId& id) {
  return score_statistics(state_->db, id);
}

Result<std::vector<EventRow>> Reader::events(int64_t limit) {
  Connection& db = state_->db;
  std::vector<EventRow> events;
  Query rows = db.query(
      "SELECT at, attempt_id, level, text FROM event ORDER BY event_id DESC LIMIT ?", limit);
  while (rows.next()) {
    const std::optional<EventLevel> level = event_level_from(rows.text(2));
    if (!level) return damaged(db, "an event of " + rows.text(0));
    EventRow& event = events.emplace_back();
    event.at = rows.text(0);
    if (!rows.null(1)) event.attempt = AttemptId{rows.integer(1)};
    event.level = *level;
    event.text = rows.text(3);
  }
  return db.finish(std::move(events));
}

}  // namespace qfs::store

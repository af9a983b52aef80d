// Results, their attempts and the failures that end attempts.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/clock.h"
#include "harness/store/codec.h"
#include "harness/store/process_identity.h"
#include "harness/store/row_queries.h"
#include "harness/store/store_state.h"

namespace qfs::store {
namespace {

Status check_expected(const ResultKey& key, const Expected& expected, const std::string& path) {
  if ((key.kind == ResultKind::measure) != (expected.repetitions > 0)) {
    return internal_error("a measure result, and no other, needs its number of repetitions", path);
  }
  if ((key.kind == ResultKind::train) == expected.roles.empty()) {
    return internal_error("a train result, and no other, needs the roles of its artifacts", path);
  }
  return {};
}

}  // namespace

Result<ResultId> Store::ensure_result(const ResultKey& key, const Expected& expected) {
  if (Status status = check_expected(key, expected, path()); !status) return status.error();
  Connection& db = state_->db;
  const std::string kind(to_string(key.kind));
  std::vector<std::string> sorted = expected.roles;
  std::sort(sorted.begin(), sorted.end());
  const std::string roles = encode_strings(sorted);
  const auto find = [&] {
    return db.integer(
        "SELECT result_id FROM result WHERE cell_id = ? AND numerics_id = ? AND kind = ?"
        " AND repetitions >= ? AND roles = ?",
        key.cell.hex(), key.numerics.hex(), kind, expected.repetitions, roles);
  };
  int64_t row = find();
  if (Status status = db.finish(); !status) return status.error();
  if (row != 0) return ResultId{row};
  Transaction transaction(db);
  db.run(
      "INSERT INTO result (cell_id, numerics_id, kind, repetitions, roles)"
      " SELECT cell_id, ?, ?, ?, ? FROM cell WHERE cell_id = ? AND training = ?"
      " ON CONFLICT (cell_id, numerics_id, kind) DO UPDATE SET"
      " repetitions = max(repetitions, excluded.repetitions)",
      key.numerics.hex(), kind, expected.repetitions, roles, key.cell.hex(),
      key.kind == ResultKind::train);
  row = find();
  if (!db.failed() && row == 0) {
    db.fail(internal_error("cell " + key.cell.short_hex() + " takes no " + kind +
                               " result, or has one whose artifacts have other roles than " + roles,
                           path()));
  }
  if (Status status = transaction.commit(); !status) return status.error();
  return ResultId{row};
}

Result<std::vector<int64_t>> Store::present_ordinals(ResultId result) {
  return integer_column(state_->db,
                        "SELECT ordinal FROM output WHERE result_id = ? ORDER BY ordinal", result);
}

Result<std::vector<int64_t>> Store::present_repetitions(ResultId result) {
  return integer_column(state_->db,
                        "SELECT repetition FROM repetition WHERE result_id = ? ORDER BY repetition",
                        result);
}

Result<AttemptId> Store::begin_attempt(const AttemptOptions& options) {
  const Result<const ResultFacts*> facts = state_->facts_of(options.result);
  if (!facts) return facts.error();
  Connection& db = state_->db;
  const int64_t equal_numerics =
      db.integer("SELECT count(*) FROM environment WHERE environment_id = ? AND numerics_id = ?",
                 options.environment.hex(), (*facts)->numerics);
  if (Status status = db.finish(); !status) return status.error();
  if (equal_numerics == 0) {
    return internal_error("the environment of an attempt must have the numerics of its result (" +
                              (*facts)->numerics.substr(0, 12) + ")",
                          path());
  }
  const ProcessIdentity process = this_process();
  Transaction transaction(db);
  db.run(
      "INSERT INTO attempt (result_id, environment_id, state, failure_kind, failure_text, worker,"
      " log_path, pid, process_start, boot_id, started_at)"
      " VALUES (?, ?, 'running', 'none', '', ?, ?, ?, ?, ?, ?)",
      options.result.value, options.environment.hex(), options.worker, options.log_path,
      process.pid, process.start_ticks, process.boot_id, wall_clock_utc());
  const AttemptId attempt{db.last_row_id()};
  if (Status status = transaction.commit(); !status) return status.error();
  return attempt;
}

Status Store::end_attempt(AttemptId attempt, const AttemptEnd& end) {
  if (end.state == AttemptState::running) {
    return internal_error("an attempt cannot end as running", path());
  }
  if ((end.state == AttemptState::failed) != (end.failure != FailureKind::none)) {
    return internal_error("an attempt that failed, and no other, ends with a kind of failure",
                          path());
  }
  Connection& db = state_->db;
  Transaction transaction(db);
  db.run(
      "UPDATE attempt SET state = ?, failure_kind = ?, failure_text = ?, ended_at = ?"
      " WHERE attempt_id = ? AND state = 'running'",
      to_string(end.state), to_string(end.failure), end.message, wall_clock_utc(), attempt.value);
  state_->expect_one_change("attempt " + std::to_string(attempt.value) + " is not running");
  return transaction.commit();
}

Result<std::optional<AttemptRow>> Store::last_failure(ResultId result) {
  Result<std::vector<AttemptRow>> attempts = attempts_of(state_->db, result);
  if (!attempts) return attempts.error();
  std::optional<AttemptRow> failure;
  if (!attempts->empty() && attempts->back().state == AttemptState::failed) {
    failure = std::move(attempts->back());
  }
  return failure;
}

Result<int64_t> Store::abandon_dead_attempts() {
  Connection& db = state_->db;
  std::vector<int64_t> dead;
  {
    Query rows = db.query(
        "SELECT attempt_id, pid, process_start, boot_id FROM attempt WHERE state = 'running'");
    while (rows.next()) {
      if (!is_running({rows.integer(1), rows.integer(2), rows.text(3)})) {
        dead.push_back(rows.integer(0));
      }
    }
  }
  if (Status status = db.finish(); !status) return status.error();
  if (dead.empty()) return 0;
  Transaction transaction(db);
  for (const int64_t attempt : dead) {
    db.run(
        "UPDATE attempt SET state = 'abandoned', failure_text = 'the process ended without a word',"
        " ended_at = ? WHERE attempt_id = ? AND state = 'running'",
        wall_clock_utc(), attempt);
  }
  if (Status status = transaction.commit(); !status) return status.error();
  return static_cast<int64_t>(dead.size());
}

void StoreState::expect_one_change(const std::string& otherwise) {
  if (!db.failed() && db.changes() != 1) db.fail(internal_error(otherwise, path));
}

void StoreState::expect_running(AttemptId attempt, ResultId result) {
  const int64_t running = db.integer(
      "SELECT count(*) FROM attempt WHERE attempt_id = ? AND result_id = ? AND state = 'running'",
      attempt.value, result.value);
  if (db.failed() || running == 1) return;
  db.fail(internal_error("attempt " + std::to_string(attempt.value) + " of result " +
                             std::to_string(result.value) + " is not running",
                         path));
}

}  // namespace qfs::store

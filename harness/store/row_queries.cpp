#include "harness/store/row_queries.h"

#include <optional>
#include <string>
#include <utility>

namespace qfs::store {

Result<std::vector<int64_t>> integer_column(Connection& db, std::string_view sql, ResultId result) {
  std::vector<int64_t> values;
  Query rows = db.query(sql, result.value);
  while (rows.next()) values.push_back(rows.integer(0));
  return db.finish(std::move(values));
}

Result<std::vector<AttemptRow>> attempts_of(Connection& db, ResultId result) {
  std::vector<AttemptRow> attempts;
  Query rows = db.query(
      "SELECT attempt_id, environment_id, state, failure_kind, failure_text, worker, log_path,"
      " started_at, ended_at FROM attempt WHERE result_id = ? ORDER BY attempt_id",
      result.value);
  while (rows.next()) {
    const std::optional<AttemptState> state = attempt_state_from(rows.text(2));
    const std::optional<FailureKind> failure = failure_kind_from(rows.text(3));
    if (!state || !failure) return damaged(db, "attempt " + std::to_string(rows.integer(0)));
    attempts.push_back({AttemptId{rows.integer(0)}, result, EnvironmentId(rows.text(1)), *state,
                        *failure, rows.text(4), rows.text(5), rows.text(6), rows.text(7),
                        rows.text(8)});
  }
  return db.finish(std::move(attempts));
}

Error changed_outside(const Connection& db, const std::string& what) {
  return store_error(what +
                         " does not have the digest it was stored with: another program changed "
                         "it, or the file is damaged; restore the store from a backup or compute "
                         "the cell anew in another one ('doctor' lists all that differs)",
                     db.path());
}

Error damaged(const Connection& db, const std::string& what) {
  return store_error("the store is damaged: " + what + " is not readable", db.path());
}

}  // namespace qfs::store

// Artifacts, curves and costs: what training brings home, one transaction a call.
#include <algorithm>
#include <cmath>
#include <string>

#include "harness/core/clock.h"
#include "harness/store/store_state.h"
#include "harness/store/training_rows.h"

namespace qfs::store {
namespace {

Status check_artifact(const ArtifactRow& artifact, const ResultFacts& facts,
                      const std::string& path) {
  if (std::find(facts.roles.begin(), facts.roles.end(), artifact.role) == facts.roles.end()) {
    return internal_error("nobody asked for an artifact in the role '" + artifact.role + "'", path);
  }
  if (is_inside(artifact.location)) return {};
  return internal_error("the artifact '" + artifact.location + "' is not in the store's folder",
                        path);
}

/// Inserts into `artifact`; true when the row is new.
bool insert_artifact(Connection& db, ResultId result, AttemptId attempt, const ArtifactRow& row) {
  return db.run(
             "INSERT INTO artifact (result_id, role, attempt_id, sha256, bytes, location)"
             " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (result_id, role) DO NOTHING",
             result.value, row.role, attempt.value, row.sha256, row.bytes, row.location) &&
         db.changes() == 1;
}

/// Whether it is there; then it lies where it was found last, for the file of the first may be
/// gone.
bool has_artifact(Connection& db, ResultId result, const ArtifactRow& row) {
  return db.run("UPDATE artifact SET location = ? WHERE result_id = ? AND role = ? AND sha256 = ?",
                row.location, result.value, row.role, row.sha256) &&
         db.changes() == 1;
}

void insert_conflict(Connection& db, ResultId result, AttemptId attempt, const ArtifactRow& row) {
  db.run(
      "INSERT INTO artifact_conflict (result_id, role, attempt_id, sha256, found_at)"
      " VALUES (?, ?, ?, ?, ?) ON CONFLICT (result_id, role, sha256) DO NOTHING",
      result.value, row.role, attempt.value, row.sha256, wall_clock_utc());
}

template <class Value>
void put_cost(Connection& db, ResultId result, std::string_view name, Value value) {
  db.run(
      "INSERT INTO training_cost (result_id, name, value) VALUES (?, ?, ?)"
      " ON CONFLICT (result_id, name) DO UPDATE SET value = excluded.value",
      result.value, name, value);
}

}  // namespace

Result<ArtifactOutcome> Store::commit_artifacts(ResultId result, AttemptId attempt,
                                                std::span<const ArtifactRow> artifacts,
                                                const TrainingCost& cost) {
  const Result<const ResultFacts*> facts = state_->facts_of(result, ResultKind::train, "artifacts");
  if (!facts) return facts.error();
  for (const ArtifactRow& artifact : artifacts) {
    if (Status status = check_artifact(artifact, **facts, path()); !status) return status.error();
  }
  Connection& db = state_->db;
  ArtifactOutcome outcome;
  Transaction transaction(db);
  state_->expect_running(attempt, result);
  for (const ArtifactRow& artifact : artifacts) {
    if (insert_artifact(db, result, attempt, artifact)) {
      ++outcome.written;
    } else if (has_artifact(db, result, artifact)) {
      ++outcome.kept;
    } else {
      insert_conflict(db, result, attempt, artifact);
      outcome.conflicting_roles.push_back(artifact.role);
    }
  }
  if (outcome.written > 0) {
    visit_cost(cost, [&](std::string_view name, auto value) { put_cost(db, result, name, value); });
  }
  if (Status status = transaction.commit(); !status) return status.error();
  return outcome;
}

Status Store::put_training_points(ResultId result, AttemptId attempt,
                                  std::span<const TrainingPoint> points) {
  const Result<const ResultFacts*> facts = state_->facts_of(result, ResultKind::train, "curve");
  if (!facts) return facts.error();
  Connection& db = state_->db;
  Transaction transaction(db);
  state_->expect_running(attempt, result);
  for (const TrainingPoint& point : points) {
    for (const auto& [name, value] : point.values) {
      if (!std::isfinite(value)) {
        return internal_error(
            name + " of training step " + std::to_string(point.step) + " is no number", path());
      }
      db.run(
          "INSERT INTO training_point (result_id, step, name, value) VALUES (?, ?, ?, ?)"
          " ON CONFLICT (result_id, step, name) DO UPDATE SET value = excluded.value"
          " WHERE value <> excluded.value",
          result.value, point.step, name, value);
    }
  }
  return transaction.commit();
}

}  // namespace qfs::store

// What training brought home: artifacts, conflicts among them, curves, costs.
#include <string>
#include <utility>

#include "harness/store/reader_state.h"
#include "harness/store/row_queries.h"
#include "harness/store/training_rows.h"

namespace qfs::store {
namespace {

void read_number(const Query& rows, int64_t& value) { value = rows.integer(1); }
void read_number(const Query& rows, double& value) { value = rows.real(1); }

}  // namespace

Result<std::vector<ArtifactRow>> Reader::artifacts(ResultId result) {
  Connection& db = state_->db;
  std::vector<ArtifactRow> artifacts;
  Query rows = db.query(
      "SELECT role, sha256, bytes, location FROM artifact WHERE result_id = ? ORDER BY role",
      result.value);
  while (rows.next()) {
    artifacts.push_back({rows.text(0), rows.text(1), rows.integer(2), rows.text(3)});
    if (is_inside(artifacts.back().location)) continue;
    return damaged(db, "the place of artifact '" + artifacts.back().role + "' of result " +
                           std::to_string(result.value));
  }
  return db.finish(std::move(artifacts));
}

Result<std::vector<ArtifactConflictRow>> Reader::artifact_conflicts() {
  Connection& db = state_->db;
  std::vector<ArtifactConflictRow> conflicts;
  Query rows = db.query(
      "SELECT result_id, role, a.attempt_id, c.attempt_id, a.sha256, c.sha256"
      " FROM artifact_conflict c JOIN artifact a USING (result_id, role)"
      " ORDER BY result_id, role, c.found_at, c.sha256");
  while (rows.next()) {
    conflicts.push_back({ResultId{rows.integer(0)}, rows.text(1), AttemptId{rows.integer(2)},
                         AttemptId{rows.integer(3)}, rows.text(4), rows.text(5)});
  }
  return db.finish(std::move(conflicts));
}

Result<std::vector<TrainingPointRow>> Reader::training_points(ResultId result) {
  Connection& db = state_->db;
  std::vector<TrainingPointRow> points;
  Query rows = db.query(
      "SELECT step, name, value FROM training_point WHERE result_id = ? ORDER BY step, name",
      result.value);
  while (rows.next()) {
    if (points.empty() || points.back().step != rows.integer(0)) {
      points.push_back({rows.integer(0), {}});
    }
    points.back().values[rows.text(1)] = rows.real(2);
  }
  return db.finish(std::move(points));
}

Result<std::optional<TrainingCost>> Reader::training_cost(ResultId result) {
  Connection& db = state_->db;
  std::optional<TrainingCost> cost;
  Query rows = db.query("SELECT name, value FROM training_cost WHERE result_id = ?", result.value);
  while (rows.next()) {
    if (!cost) cost.emplace();
    bool known = false;
    visit_cost(*cost, [&](std::string_view name, auto& value) {
      if (rows.text(0) != name) return;
      read_number(rows, value);
      known = true;
    });
    if (!known)
      return damaged(db, "what training result " + std::to_string(result.value) + " cost");
  }
  return db.finish(cost);
}

}  // namespace qfs::store

// Outputs with their texts, conflicts, and the byte-equality list.
#include <string>
#include <utility>

#include "harness/core/sha256.h"
#include "harness/store/codec.h"
#include "harness/store/reader_state.h"
#include "harness/store/row_queries.h"

namespace qfs::store {
namespace {

constexpr const char* kOutputColumns =
    "SELECT o.ordinal, o.output_sha256, o.text, o.finish, o.tokens_in, o.tokens_out,"
    " o.repaired_bytes, o.truncation, o.extra, p.body, coalesce(o.prompt_sha256, '')"
    " FROM output o"
    // Without prompts nothing is looked up and the column is NULL.
    " LEFT JOIN text p ON ?1 AND p.sha256 = o.prompt_sha256 WHERE o.result_id = ?2";

/// Whether the row says what it said when it was stored.
bool is_unchanged(const OutputRow& output, const std::string& truncation,
                  const std::string& prompt_sha256) {
  const Prediction& prediction = output.prediction;
  const OutputFacts facts{sha256_hex(prediction.text), prompt_sha256, truncation};
  return output_digest(prediction, facts) == output.sha256 &&
         (prediction.prompt.empty() || sha256_hex(prediction.prompt) == prompt_sha256);
}

Result<std::vector<OutputRow>> read_outputs(Connection& db, ResultId result, Query rows) {
  std::vector<OutputRow> outputs;
  while (rows.next()) {
    OutputRow& output = outputs.emplace_back();
    output.ordinal = rows.integer(0);
    output.sha256 = rows.text(1);
    Prediction& prediction = output.prediction;
    prediction.text = rows.text(2);
    const std::optional<FinishReason> finish = finish_reason_from(rows.text(3));
    prediction.tokens_in = rows.integer(4);
    prediction.tokens_out = rows.integer(5);
    prediction.repaired_bytes = rows.integer(6);
    bool readable = finish.has_value();
    if (!rows.null(7)) {
      prediction.truncation = decode_truncation(rows.text(7));
      readable = readable && prediction.truncation.has_value();
    }
    if (!readable) return damaged(db, "the output of example " + std::to_string(output.ordinal));
    prediction.finish = *finish;
    prediction.extra = Json{rows.text(8)};
    prediction.prompt = rows.text(9);
    if (!is_unchanged(output, rows.text(7), rows.text(10))) {
      return changed_outside(db, "output " + std::to_string(output.ordinal) + " of result " +
                                     std::to_string(result.value));
    }
  }
  return db.finish(std::move(outputs));
}

/// The condition of the index output_empty, over a column.
std::string is_empty(const char* column) {
  return std::string("trim(") + column +
         ", char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, "
         "8196,"
         " 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = ''";
}

}  // namespace

Result<int64_t> Reader::empty_outputs(ResultId result) {
  Query rows = state_->db.query(
      "SELECT count(*) FROM output WHERE result_id = ? AND " + is_empty("text"), result.value);
  int64_t count = 0;
  if (rows.next()) count = rows.integer(0);
  return state_->db.finish(std::move(count));
}

Result<std::set<int64_t>> Reader::empty_scored_texts(const ScoreId& id) {
  // Outputs that were scored as they are, and what postprocessing made of the others.
  Query rows = state_->db.query(
      // CROSS JOIN: the index output_empty finds the few.
      "SELECT s.ordinal FROM score_job j CROSS JOIN output o ON o.result_id = j.result_id"
      " CROSS JOIN statistic s ON s.score_job_id = j.score_job_id AND s.ordinal = o.ordinal"
      " WHERE j.score_id = ?1 AND s.processed_sha256 IS NULL AND " +
          is_empty("o.text") +
          " UNION ALL SELECT s.ordinal FROM score_job j JOIN statistic s"
          " ON s.score_job_id = j.score_job_id JOIN text t ON t.sha256 = s.processed_sha256"
          " WHERE j.score_id = ?1 AND " +
          is_empty("t.body"),
      id.hex());
  std::set<int64_t> ordinals;
  while (rows.next()) ordinals.insert(rows.integer(0));
  return state_->db.finish(std::move(ordinals));
}

Result<std::vector<OutputRow>> Reader::outputs(ResultId result, bool with_prompts) {
  return read_outputs(state_->db, result,
                      state_->db.query(std::string(kOutputColumns) + " ORDER BY o.ordinal",
                                       with_prompts, result.value));
}

Result<std::optional<OutputRow>> Reader::output(ResultId result, int64_t ordinal) {
  return at_most_one(
      read_outputs(state_->db, result,
                   state_->db.query(std::string(kOutputColumns) + " AND o.ordinal = ?3", true,
                                    result.value, ordinal)));
}

Result<std::vector<ConflictRow>> Reader::conflicts() {
  Connection& db = state_->db;
  std::vector<ConflictRow> conflicts;
  Query rows = db.query(
      "SELECT c.result_id, c.ordinal, o.attempt_id, c.attempt_id, o.output_sha256,"
      " c.output_sha256, o.text, c.text FROM output_conflict c"
      " JOIN output o USING (result_id, ordinal) ORDER BY c.conflict_id");
  while (rows.next()) {
    conflicts.push_back({ResultId{rows.integer(0)}, rows.integer(1), AttemptId{rows.integer(2)},
                         AttemptId{rows.integer(3)}, rows.text(4), rows.text(5), rows.text(6),
                         rows.text(7)});
  }
  return db.finish(std::move(conflicts));
}

Result<std::vector<ResultHashes>> Reader::output_hashes() {
  Connection& db = state_->db;
  std::vector<ResultHashes> results;
  Query rows = db.query(
      "SELECT r.cell_id, r.numerics_id, o.ordinal, o.output_sha256 FROM result r"
      " JOIN output o USING (result_id) ORDER BY r.cell_id, r.numerics_id, o.ordinal");
  while (rows.next()) {
    const CellId cell(rows.text(0));
    const NumericsId numerics(rows.text(1));
    if (results.empty() || results.back().cell != cell || results.back().numerics != numerics) {
      results.push_back({cell, numerics, {}});
    }
    results.back().outputs.push_back({rows.integer(2), rows.text(3)});
  }
  return db.finish(std::move(results));
}

}  // namespace qfs::store

// Outputs and repetitions: what attempts bring home, one transaction a call.
#include <algorithm>
#include <string>
#include <utility>

#include "harness/core/clock.h"
#include "harness/core/sha256.h"
#include "harness/store/codec.h"
#include "harness/store/store_state.h"

namespace qfs::store {
namespace {

/// An output in the form of its columns.
struct OutputColumns {
  OutputFacts facts;
  std::string sha256;
};

OutputColumns columns_of(const Prediction& prediction, std::string prompt_sha256) {
  OutputColumns columns;
  columns.facts.text_sha256 = sha256_hex(prediction.text);
  columns.facts.prompt_sha256 = std::move(prompt_sha256);
  if (prediction.truncation) columns.facts.truncation = encode_truncation(*prediction.truncation);
  columns.sha256 = output_digest(prediction, columns.facts);
  return columns;
}

/// Inserts into `output`; true when the row is new.
bool insert_output(Connection& db, ResultId result, AttemptId attempt, const OutputRow& output,
                   const OutputColumns& columns) {
  const Prediction& prediction = output.prediction;
  return db.run(
             "INSERT INTO output (result_id, ordinal, attempt_id, output_sha256, text,"
             " finish, tokens_in, tokens_out, repaired_bytes, truncation, prompt_sha256, extra)"
             " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
             " ON CONFLICT (result_id, ordinal) DO NOTHING",
             result.value, output.ordinal, attempt.value, columns.sha256, prediction.text,
             to_string(prediction.finish), prediction.tokens_in, prediction.tokens_out,
             prediction.repaired_bytes, unless_empty(columns.facts.truncation),
             unless_empty(columns.facts.prompt_sha256), prediction.extra.text) &&
         db.changes() == 1;
}

void insert_conflict(Connection& db, ResultId result, AttemptId attempt, const OutputRow& output,
                     const OutputColumns& columns) {
  const Prediction& prediction = output.prediction;
  db.run(
      "INSERT INTO output_conflict (result_id, ordinal, attempt_id, output_sha256, text,"
      " finish, tokens_in, tokens_out, repaired_bytes, truncation, prompt_sha256, extra, found_at)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
      " ON CONFLICT (result_id, ordinal, output_sha256) DO NOTHING",
      result.value, output.ordinal, attempt.value, columns.sha256, prediction.text,
      to_string(prediction.finish), prediction.tokens_in, prediction.tokens_out,
      prediction.repaired_bytes, unless_empty(columns.facts.truncation),
      unless_empty(columns.facts.prompt_sha256), prediction.extra.text, wall_clock_utc());
}

bool has_output(Connection& db, ResultId result, int64_t ordinal, const std::string& sha256) {
  return db.integer(
             "SELECT count(*) FROM output WHERE result_id = ? AND ordinal = ? AND output_sha256 = "
             "?",
             result.value, ordinal, sha256) == 1;
}

}  // namespace

std::string output_digest(const Prediction& prediction) {
  return columns_of(prediction, prediction.prompt.empty() ? "" : sha256_hex(prediction.prompt))
      .sha256;
}

Result<CommitOutcome> Store::commit_outputs(ResultId result, AttemptId attempt,
                                            std::span<const OutputRow> outputs) {
  const Result<const ResultFacts*> found = state_->facts_of(result, ResultKind::predict, "outputs");
  if (!found) return found.error();
  const ResultFacts& facts = **found;
  for (const OutputRow& output : outputs) {
    if (!std::binary_search(facts.ordinals.begin(), facts.ordinals.end(), output.ordinal)) {
      return internal_error("example " + std::to_string(output.ordinal) +
                                " is not one of the cell of result " + std::to_string(result.value),
                            path());
    }
  }

  Connection& db = state_->db;
  CommitOutcome outcome;
  Transaction transaction(db);
  state_->expect_running(attempt, result);
  for (const OutputRow& output : outputs) {
    state_->expect_json(output.prediction.extra, "the extra field of a prediction");
    const std::string& prompt = output.prediction.prompt;
    std::string prompt_sha256;
    if (!prompt.empty()) {
      prompt_sha256 = facts.keep_prompts ? state_->put_text(prompt) : sha256_hex(prompt);
    }
    state_->expect_utf8(output.prediction.text);
    const OutputColumns columns = columns_of(output.prediction, std::move(prompt_sha256));
    if (insert_output(db, result, attempt, output, columns)) {
      ++outcome.written;
    } else if (has_output(db, result, output.ordinal, columns.sha256)) {
      ++outcome.kept;
    } else {
      insert_conflict(db, result, attempt, output, columns);
      outcome.conflicting_ordinals.push_back(output.ordinal);
    }
  }
  if (Status status = transaction.commit(); !status) return status.error();
  return outcome;
}

Status Store::commit_repetition(ResultId result, AttemptId attempt, int64_t repetition,
                                std::span<const MeasurementRow> measurements,
                                std::span<const MemoryRow> memory) {
  const Result<const ResultFacts*> facts =
      state_->facts_of(result, ResultKind::measure, "repetitions");
  if (!facts) return facts.error();
  Connection& db = state_->db;
  Transaction transaction(db);
  state_->expect_running(attempt, result);
  db.run(
      "INSERT INTO repetition (result_id, repetition, attempt_id) VALUES (?, ?, ?)"
      " ON CONFLICT (result_id, repetition) DO NOTHING",
      result.value, repetition, attempt.value);
  if (db.changes() == 0) return transaction.commit();
  for (const MeasurementRow& row : measurements) {
    db.run(
        "INSERT INTO measurement (result_id, repetition, unit, phase, ns, tokens)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        result.value, repetition, row.unit, row.phase, row.ns, row.tokens);
  }
  for (const MemoryRow& row : memory) {
    db.run("INSERT INTO memory (result_id, repetition, kind, bytes) VALUES (?, ?, ?, ?)",
           result.value, repetition, row.kind, row.bytes);
  }
  return transaction.commit();
}

}  // namespace qfs::store

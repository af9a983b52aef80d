// Integrity: what SQLite can check, and every digest recomputed.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "harness/core/identity.h"
#include "harness/core/sha256.h"
#include "harness/store/codec.h"
#include "harness/store/reader_state.h"
#include "harness/store/store.h"
#include "harness/store/training_rows.h"

namespace qfs::store {
namespace {

using Problems = std::vector<std::string>;

void check_file(Connection& db, Problems& problems) {
  {
    Query rows = db.query("PRAGMA integrity_check(20)");
    while (rows.next()) {
      if (rows.text(0) != "ok") problems.push_back("file: " + rows.text(0));
    }
  }
  Query rows = db.query("PRAGMA foreign_key_check");
  while (rows.next()) {
    problems.push_back("table " + rows.text(0) + ": a row refers to a missing row of " +
                       rows.text(2));
  }
}

void check_texts(Connection& db, Problems& problems) {
  Query rows = db.query("SELECT sha256, body FROM text");
  while (rows.next()) {
    const std::string sha256 = rows.text(0);
    if (sha256_hex(rows.text(1)) != sha256) {
      problems.push_back("text " + sha256.substr(0, 12) + " is not the one with this digest");
    }
  }
}

void check_outputs(Connection& db, Problems& problems) {
  Query rows = db.query(
      "SELECT result_id, ordinal, output_sha256, text, finish, tokens_in, tokens_out,"
      " repaired_bytes, coalesce(truncation, ''), coalesce(prompt_sha256, ''), extra FROM output");
  while (rows.next()) {
    Prediction prediction;
    prediction.finish = finish_reason_from(rows.text(4)).value_or(FinishReason::stop);
    prediction.tokens_in = rows.integer(5);
    prediction.tokens_out = rows.integer(6);
    prediction.repaired_bytes = rows.integer(7);
    prediction.extra = Json{rows.text(10)};
    const OutputFacts facts{sha256_hex(rows.text(3)), rows.text(9), rows.text(8)};
    if (output_digest(prediction, facts) != rows.text(2)) {
      problems.push_back("output " + std::to_string(rows.integer(1)) + " of result " +
                         std::to_string(rows.integer(0)) + " does not have its digest");
    }
  }
}

void check_ids(Connection& db, Problems& problems) {
  {
    Query rows = db.query("SELECT cell_id, identity, identity_version FROM cell");
    while (rows.next()) {
      const CellId id(rows.text(0));
      if (rows.integer(2) == kIdentityVersion && make_cell_id(Json{rows.text(1)}) != id) {
        problems.push_back("cell " + id.short_hex() + " is not the id of its identity");
      }
    }
  }
  Query rows = db.query("SELECT numerics_id, numerics FROM environment");
  while (rows.next()) {
    const NumericsId id(rows.text(0));
    if (make_numerics_id(Json{rows.text(1)}) != id) {
      problems.push_back("numerics " + id.short_hex() + " is not the id of its identity");
    }
  }
}

/// A score's id is of what was scored and how: its cell, its numerics, the chain and the metric.
void check_score_ids(Connection& db, Problems& problems) {
  Query rows = db.query(
      "SELECT j.score_id, r.cell_id, r.numerics_id, j.postprocess, j.signature FROM score_job j"
      " JOIN result r USING (result_id)");
  while (rows.next()) {
    const Json chain{rows.text(3)};
    const std::string suffix = chain.text == "[]" ? "" : "|post:" + chain.text;
    std::string metric = rows.text(4);
    if (metric.ends_with(suffix)) metric.resize(metric.size() - suffix.size());
    const ScoreId id = make_score_id(CellId(rows.text(1)), NumericsId(rows.text(2)), chain, metric);
    if (id.hex() != rows.text(0)) {
      problems.push_back("score " + rows.text(0).substr(0, 12) +
                         " is not the id of its metric, chain and outputs");
    }
  }
}

/// What a sweep shows in a place has to be of that place's cell.
void check_places(Connection& db, Problems& problems) {
  Query rows = db.query(
      "SELECT s.position, s.result_id FROM sweep_result s JOIN sweep_cell c USING (sweep_id,"
      " position) JOIN result r USING (result_id) WHERE r.cell_id <> c.cell_id OR r.kind <> "
      "s.kind");
  while (rows.next()) {
    problems.push_back("place " + std::to_string(rows.integer(0)) + " of a sweep has the result " +
                       std::to_string(rows.integer(1)) + " of another cell");
  }
}

/// JSON columns whose reading would fail later.
void check_json(Connection& db, Problems& problems) {
  constexpr std::array<std::array<const char*, 2>, 16> kColumns = {
      {{"dataset", "manifest"},
       {"example", "reference_sha256s"},
       {"example", "evidence"},
       {"example", "extra"},
       {"cell", "identity"},
       {"cell", "params"},
       {"cell", "ordinals"},
       {"sweep", "config"},
       {"sweep_cell", "params"},
       {"environment", "numerics"},
       {"environment", "host"},
       {"environment", "build"},
       {"result", "roles"},
       {"output", "extra"},
       {"score_job", "columns"},
       {"statistic", "values"}}};
  for (const auto& [table, column] : kColumns) {
    const int64_t broken = db.integer("SELECT count(*) FROM " + std::string(table) +
                                      " WHERE NOT json_valid(\"" + column + "\")");
    if (broken > 0) {
      problems.push_back("table " + std::string(table) + ": " + std::to_string(broken) +
                         " rows whose " + column + " is not JSON");
    }
  }
}

template <class Word, std::optional<Word> (*from)(std::string_view)>
bool is_known(std::string_view name) {
  return from(name).has_value();
}

bool is_cost(std::string_view name) {
  TrainingCost cost;
  bool found = false;
  visit_cost(cost, [&](std::string_view known, auto) { found = found || known == name; });
  return found;
}

/// Words that only code knows; another one fails whoever reads its row.
void check_words(Connection& db, Problems& problems) {
  struct Column {
    const char* table;
    const char* column;
    bool (*is_known)(std::string_view);
  };
  constexpr auto kIsKind = is_known<ResultKind, result_kind_from>;
  constexpr auto kIsFinish = is_known<FinishReason, finish_reason_from>;
  constexpr std::array<Column, 8> kColumns = {
      {{"output", "finish", kIsFinish},
       {"output_conflict", "finish", kIsFinish},
       {"result", "kind", kIsKind},
       {"sweep_result", "kind", kIsKind},
       {"attempt", "state", is_known<AttemptState, attempt_state_from>},
       {"attempt", "failure_kind", is_known<FailureKind, failure_kind_from>},
       {"event", "level", is_known<EventLevel, event_level_from>},
       {"training_cost", "name", is_cost}}};
  for (const Column& column : kColumns) {
    Query rows =
        db.query(std::string("SELECT DISTINCT ") + column.column + " FROM " + column.table);
    while (rows.next()) {
      if (column.is_known(rows.text(0))) continue;
      problems.push_back("table " + std::string(column.table) + ": '" + rows.text(0) + "' is no " +
                         column.column + " that this program knows");
    }
  }
}

/// Scores that no metric gives: beyond what tables can print, or with an interval that ends before
/// it begins.
void check_scores(Connection& db, Problems& problems) {
  Query rows = db.query(
      "SELECT j.metric, s.name, count(*) FROM score s JOIN score_job j USING (score_job_id)"
      " WHERE low > high OR abs(value) > 1e100 OR abs(low) > 1e100 OR abs(high) > 1e100"
      " GROUP BY j.metric, s.name ORDER BY j.metric, s.name");
  while (rows.next()) {
    problems.push_back(std::to_string(rows.integer(2)) + " scores " + rows.text(0) + " '" +
                       rows.text(1) + "' are no numbers that a metric gives");
  }
}

/// Attempts and artifacts that contradict themselves or what was asked for.
void check_attempts(Connection& db, Problems& problems) {
  {
    Query rows = db.query(
        "SELECT attempt_id FROM attempt WHERE (state = 'failed') <> (failure_kind <> 'none')"
        " OR (state = 'running') <> (ended_at IS NULL)");
    while (rows.next()) {
      problems.push_back("attempt " + std::to_string(rows.integer(0)) +
                         " does not say how it ended");
    }
  }
  {
    Query rows = db.query(
        "SELECT result_id FROM result JOIN cell USING (cell_id)"
        " WHERE (kind = 'measure') <> (repetitions > 0)"
        " OR (kind = 'train') <> (roles <> '[]') OR (kind = 'train') <> training");
    while (rows.next()) {
      problems.push_back("result " + std::to_string(rows.integer(0)) +
                         " does not say what it is complete with");
    }
  }
  Query rows = db.query(
      "SELECT result_id, role, location, roles FROM artifact JOIN result USING (result_id)");
  while (rows.next()) {
    const std::string role = rows.text(1);
    const std::string name = "artifact '" + role + "' of result " + std::to_string(rows.integer(0));
    if (!is_inside(rows.text(2))) problems.push_back(name + " is not in the store's folder");
    const auto asked = decode_strings(rows.text(3));
    if (asked && std::find(asked->begin(), asked->end(), role) == asked->end()) {
      problems.push_back(name + " was not asked for");
    }
  }
}

/// Rows that no constraint can tie together.
void check_counts(Connection& db, Problems& problems) {
  {
    Query rows = db.query(
        "SELECT dataset_id FROM dataset d WHERE examples <>"
        " (SELECT count(*) FROM example e WHERE e.dataset_id = d.dataset_id)");
    while (rows.next()) {
      problems.push_back("data set " + rows.text(0).substr(0, 12) + " does not have its examples");
    }
  }
  {
    Query rows = db.query(
        "SELECT cell_id FROM cell WHERE json_valid(ordinals) AND json_array_length(ordinals) IS "
        "NOT expected");
    while (rows.next()) {
      problems.push_back("cell " + rows.text(0).substr(0, 12) + " does not count its examples");
    }
  }
  {
    Query rows = db.query(
        "SELECT o.result_id, o.ordinal FROM output o JOIN result r USING (result_id)"
        " JOIN cell c USING (cell_id)"
        " WHERE json_valid(c.ordinals)"
        " AND o.ordinal NOT IN (SELECT value FROM json_each(c.ordinals))");
    while (rows.next()) {
      problems.push_back("result " + std::to_string(rows.integer(0)) +
                         " has an output that was not asked for, example " +
                         std::to_string(rows.integer(1)));
    }
  }
  Query rows = db.query(
      "SELECT score_id FROM score_job j WHERE n <>"
      " (SELECT count(*) FROM statistic s WHERE s.score_job_id = j.score_job_id)");
  while (rows.next()) {
    problems.push_back("score " + rows.text(0).substr(0, 12) + " does not have its statistics");
  }
}

}  // namespace

Result<std::vector<std::string>> Reader::check_integrity() {
  Connection& db = state_->db;
  Problems problems;
  check_file(db, problems);
  check_texts(db, problems);
  check_outputs(db, problems);
  check_ids(db, problems);
  check_score_ids(db, problems);
  check_places(db, problems);
  check_json(db, problems);
  check_words(db, problems);
  check_scores(db, problems);
  check_attempts(db, problems);
  check_counts(db, problems);
  const Result<std::vector<SweepInfo>> all = sweeps();
  if (!all) return all.error();
  for (const SweepInfo& info : *all) {
    const Result<SweepRow> row = sweep(info.id);
    if (!row) return row.error();
    if (make_sweep_id(*row) != info.id) {
      problems.push_back("sweep " + info.id.short_hex() + " is not the id of its content");
    }
  }
  return db.finish(std::move(problems));
}

}  // namespace qfs::store

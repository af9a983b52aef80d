// What was asked, from another store: data sets, texts, cells, sweeps, environments.
#include <string>

#include "harness/store/merge_steps.h"

namespace qfs::store {
namespace {

/// Fails the connection when the query has a row: an id (its first column) that says one thing here
/// and another there.
void expect_equal(Connection& db, const char* what, const std::string& source, const char* sql) {
  std::string id;
  {
    Query rows = db.query(sql);
    if (rows.next()) id = rows.text(0);
  }
  if (id.empty() || db.failed()) return;
  db.fail(data_error(std::string(what) + " " + id.substr(0, 12) +
                         " is not the one that the destination has under this id; nothing of the "
                         "store was taken ('doctor' tells whether one of the two is damaged)",
                     source));
}

void merge_datasets(Connection& db, const std::string& source, MergeOutcome& outcome) {
  expect_equal(db, "data set", source,
               "SELECT s.dataset_id FROM source.dataset s JOIN main.dataset d USING (dataset_id)"
               " WHERE s.examples <> d.examples LIMIT 1");
  expect_equal(db, "data set", source,
               "SELECT s.dataset_id FROM source.example s JOIN main.example d"
               " USING (dataset_id, ordinal) WHERE s.example_sha256 <> d.example_sha256"
               " OR s.document_sha256 <> d.document_sha256 OR s.query_sha256 <> d.query_sha256"
               " OR s.reference_sha256s <> d.reference_sha256s LIMIT 1");
  db.run(
      "INSERT INTO main.text (sha256, body) SELECT sha256, body FROM source.text WHERE true"
      " ON CONFLICT (sha256) DO NOTHING");
  outcome.datasets += rows_changed(
      db,
      "INSERT INTO main.dataset (dataset_id, name, split, manifest, examples, texts_stored,"
      " documents_stored) SELECT dataset_id, name, split, manifest, examples, texts_stored,"
      " documents_stored FROM source.dataset WHERE true ON CONFLICT (dataset_id) DO NOTHING");
  db.run(
      "INSERT INTO main.example (dataset_id, ordinal, example_key, document_id, question_group,"
      " language, example_sha256, document_sha256, query_sha256, reference_sha256s, evidence, "
      "extra)"
      " SELECT dataset_id, ordinal, example_key, document_id, question_group, language,"
      " example_sha256, document_sha256, query_sha256, reference_sha256s, evidence, extra"
      " FROM source.example WHERE true ON CONFLICT (dataset_id, ordinal) DO NOTHING");
  // A store that has texts lends them to one that had hashes only.
  db.run(
      "UPDATE main.example SET extra = s.extra FROM source.example s, source.dataset t,"
      " main.dataset d WHERE s.dataset_id = main.example.dataset_id"
      " AND s.ordinal = main.example.ordinal AND t.dataset_id = s.dataset_id"
      " AND d.dataset_id = s.dataset_id AND t.texts_stored > d.texts_stored");
  db.run(
      "UPDATE main.dataset SET texts_stored = max(main.dataset.texts_stored, s.texts_stored),"
      " documents_stored = max(main.dataset.documents_stored, s.documents_stored)"
      " FROM source.dataset s WHERE s.dataset_id = main.dataset.dataset_id"
      " AND (s.texts_stored > main.dataset.texts_stored"
      " OR s.documents_stored > main.dataset.documents_stored)");
}

void merge_cells(Connection& db, const std::string& source, MergeOutcome& outcome) {
  // Parameters may differ: a later version adds some with neutral defaults, which enter no id.
  expect_equal(db, "cell", source,
               "SELECT s.cell_id FROM source.cell s JOIN main.cell d USING (cell_id)"
               " WHERE s.identity <> d.identity OR s.dataset_id <> d.dataset_id"
               " OR s.seed <> d.seed OR s.ordinals <> d.ordinals OR s.training <> d.training"
               " LIMIT 1");
  outcome.cells += rows_changed(
      db,
      "INSERT INTO main.cell (cell_id, identity_version, identity, method, oracle, params,"
      " training, dataset_id, development_dataset_id, seed, ordinals, expected)"
      " SELECT cell_id, identity_version, identity, method, oracle, params, training, dataset_id,"
      " development_dataset_id, seed, ordinals, expected FROM source.cell WHERE true"
      " ON CONFLICT (cell_id) DO NOTHING");
  db.run(
      "INSERT INTO main.dependency (cell_id, role, training_cell_id, sha256)"
      " SELECT cell_id, role, training_cell_id, sha256 FROM source.dependency WHERE true"
      " ON CONFLICT (cell_id, role) DO NOTHING");
}

void merge_sweeps(Connection& db, MergeOutcome& outcome) {
  outcome.sweeps += rows_changed(
      db,
      "INSERT INTO main.sweep (sweep_id, name, config, config_sha256, created_at, used)"
      " SELECT s.sweep_id, s.name, s.config, s.config_sha256, s.created_at,"
      " (SELECT coalesce(max(used), 0) FROM main.sweep) + row_number() OVER (ORDER BY s.used)"
      " FROM source.sweep s WHERE s.sweep_id NOT IN (SELECT sweep_id FROM main.sweep)"
      " ORDER BY s.rowid");
  db.run(
      "INSERT INTO main.sweep_cell (sweep_id, position, cell_id, label, params, measure_ordinals)"
      " SELECT sweep_id, position, cell_id, label, params, measure_ordinals"
      " FROM source.sweep_cell WHERE true ON CONFLICT (sweep_id, position) DO NOTHING");
}

}  // namespace

void merge_what_was_asked(Connection& db, const std::string& source, MergeOutcome& outcome) {
  merge_datasets(db, source, outcome);
  merge_cells(db, source, outcome);
  merge_sweeps(db, outcome);
  db.run(
      "INSERT INTO main.environment (environment_id, numerics_id, numerics, host, build,"
      " created_at) SELECT environment_id, numerics_id, numerics, host, build, created_at"
      " FROM source.environment WHERE true ON CONFLICT (environment_id) DO NOTHING");
}

void merge_shown_results(Connection& db) {
  db.run(
      "INSERT INTO main.sweep_result (sweep_id, position, kind, result_id)"
      " SELECT s.sweep_id, s.position, s.kind, m.here FROM source.sweep_result s"
      " JOIN temp.merge_result m ON m.there = s.result_id WHERE true"
      " ON CONFLICT (sweep_id, position, kind) DO UPDATE SET result_id = excluded.result_id"
      " WHERE (SELECT count(*) FROM main.output o WHERE o.result_id = excluded.result_id)"
      " + (SELECT count(*) FROM main.repetition p WHERE p.result_id = excluded.result_id)"
      " > (SELECT count(*) FROM main.output o WHERE o.result_id = sweep_result.result_id)"
      " + (SELECT count(*) FROM main.repetition p WHERE p.result_id = sweep_result.result_id)");
}

void merge_events(Connection& db) {
  db.run(
      "INSERT INTO main.event (at, attempt_id, level, text)"
      " SELECT s.at, a.here, s.level, s.text FROM source.event s"
      " LEFT JOIN temp.merge_attempt a ON a.there = s.attempt_id"
      " WHERE NOT EXISTS (SELECT 1 FROM main.event d WHERE d.at = s.at AND d.attempt_id IS a.here"
      " AND d.level = s.level AND d.text = s.text) ORDER BY s.event_id");
}

}  // namespace qfs::store

// What is asked: data sets, cells, sweeps, environments.
#include <algorithm>
#include <string>
#include <vector>

#include "harness/core/clock.h"
#include "harness/core/identity.h"
#include "harness/core/sha256.h"
#include "harness/store/codec.h"
#include "harness/store/store_state.h"

namespace qfs::store {
namespace {

/// Which texts of a data set are kept.
struct TextPolicy {
  bool texts = true;
  bool documents = true;
};

TextPolicy policy_of(const Dataset& dataset, bool store_documents) {
  if (dataset.manifest.no_redistribution) return {false, false};
  return {true, store_documents};
}

void put_example(StoreState& state, const Dataset& dataset, size_t ordinal, TextPolicy policy) {
  const Example& example = dataset.examples[ordinal];
  const auto digest_of = [&state](std::string_view body, bool keep) {
    return keep ? state.put_text(body) : sha256_hex(body);
  };
  std::vector<std::string> references;
  for (const std::string& reference : example.references) {
    references.push_back(digest_of(reference, policy.texts));
  }
  const std::string document = digest_of(encode_document(example.document), policy.documents);
  const std::string query = digest_of(example.query, policy.texts);
  state.expect_json(example.extra, "the extra field of an example");
  state.db.run(
      "INSERT INTO example (dataset_id, ordinal, example_key, document_id, question_group, "
      "language,"
      " example_sha256, document_sha256, query_sha256, reference_sha256s, evidence, extra)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
      " ON CONFLICT (dataset_id, ordinal) DO NOTHING",
      dataset.id.hex(), static_cast<int64_t>(ordinal), example.key, example.document_id,
      example.group, example.language, dataset.example_hashes[ordinal], document, query,
      encode_strings(references), encode_evidence(example.evidence),
      policy.texts ? example.extra.text : std::string("{}"));
}

Status check_cell(const CellRow& cell, const std::string& path) {
  if (make_cell_id(cell.identity) != cell.id) {
    return internal_error("cell " + cell.id.short_hex() + " is not the id of its identity", path);
  }
  const bool ascending = std::is_sorted(cell.ordinals.begin(), cell.ordinals.end(),
                                        [](int64_t a, int64_t b) { return a <= b; });
  if (cell.ordinals.empty() || !ascending || cell.ordinals.front() < 0) {
    return internal_error("cell " + cell.id.short_hex() +
                              ": its examples must be one or more ordinals in ascending order",
                          path);
  }
  if (!cell.training && !cell.development.empty()) {
    return internal_error(
        "cell " + cell.id.short_hex() + " has development data but trains nothing", path);
  }
  for (const Dependency& dependency : cell.dependencies) {
    if (dependency.training_cell.empty() == dependency.sha256.empty()) {
      return internal_error("cell " + cell.id.short_hex() + ": its artifact '" + dependency.role +
                                "' must be of a training cell or have a digest",
                            path);
    }
  }
  return {};
}

void insert_cell(StoreState& state, const CellRow& cell) {
  state.expect_json(cell.identity, "the identity of a cell");
  state.expect_json(cell.params, "the parameters of a cell");
  state.db.run(
      "INSERT INTO cell (cell_id, identity_version, identity, method, oracle, params, training,"
      " dataset_id, development_dataset_id, seed, ordinals, expected)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (cell_id) DO NOTHING",
      cell.id.hex(), kIdentityVersion, cell.identity.text, cell.method, cell.oracle,
      cell.params.text, cell.training, cell.dataset.hex(), unless_empty(cell.development.hex()),
      std::to_string(cell.seed), encode_integers(cell.ordinals),
      static_cast<int64_t>(cell.ordinals.size()));
  for (const Dependency& dependency : cell.dependencies) {
    state.db.run(
        "INSERT INTO dependency (cell_id, role, training_cell_id, sha256) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (cell_id, role) DO NOTHING",
        cell.id.hex(), dependency.role, unless_empty(dependency.training_cell.hex()),
        unless_empty(dependency.sha256));
  }
}

}  // namespace

Status Store::put_dataset(const Dataset& dataset, bool store_documents) {
  if (dataset.examples.size() != dataset.example_hashes.size()) {
    return internal_error("data set " + dataset.manifest.name + ": " +
                              std::to_string(dataset.examples.size()) + " examples but " +
                              std::to_string(dataset.example_hashes.size()) + " hashes",
                          path());
  }
  const TextPolicy policy = policy_of(dataset, store_documents);
  Connection& db = state_->db;
  const int64_t there = db.integer(
      "SELECT count(*) FROM dataset WHERE dataset_id = ? AND texts_stored >= ?"
      " AND documents_stored >= ?",
      dataset.id.hex(), policy.texts, policy.documents);
  if (Status status = db.finish(); !status || there > 0) return status;

  Transaction transaction(db);
  db.run(
      "INSERT INTO dataset (dataset_id, name, split, manifest, examples, texts_stored,"
      " documents_stored) VALUES (?, ?, ?, ?, ?, ?, ?)"
      " ON CONFLICT (dataset_id) DO UPDATE SET"
      " texts_stored = max(texts_stored, excluded.texts_stored),"
      " documents_stored = max(documents_stored, excluded.documents_stored)",
      dataset.id.hex(), dataset.manifest.name, dataset.manifest.split,
      encode_manifest(dataset.manifest), static_cast<int64_t>(dataset.examples.size()),
      policy.texts, policy.documents);
  for (size_t i = 0; i < dataset.examples.size(); ++i) put_example(*state_, dataset, i, policy);
  state_->facts.clear();  // whether prompts are kept may have changed
  return transaction.commit();
}

Status Store::put_cell(const CellRow& cell) { return put_cells({&cell, 1}); }

Status Store::put_cells(std::span<const CellRow> cells) {
  for (const CellRow& cell : cells) {
    if (Status status = check_cell(cell, path()); !status) return status;
  }
  Connection& db = state_->db;
  const bool all_there = std::all_of(cells.begin(), cells.end(), [&db](const CellRow& cell) {
    return db.integer("SELECT count(*) FROM cell WHERE cell_id = ?", cell.id.hex()) == 1;
  });
  if (Status status = db.finish(); !status || all_there) return status;
  Transaction transaction(db);
  for (const CellRow& cell : cells) insert_cell(*state_, cell);
  return transaction.commit();
}

SweepId make_sweep_id(const SweepRow& sweep) {
  std::vector<std::string> measured;
  for (const SweepCell& cell : sweep.cells)
    measured.push_back(encode_integers(cell.measure_ordinals));
  std::vector<std::string_view> parts = {sweep.name, sweep.config.text};
  for (size_t i = 0; i < sweep.cells.size(); ++i) {
    const SweepCell& cell = sweep.cells[i];
    parts.insert(parts.end(), {cell.cell.hex(), cell.label, cell.params.text, measured[i]});
  }
  return SweepId(parts_digest("sweep", parts));
}

Result<SweepId> Store::put_sweep(const SweepRow& sweep) {
  const SweepId id = make_sweep_id(sweep);
  Connection& db = state_->db;
  const int64_t latest = db.integer(
      "SELECT count(*) FROM sweep WHERE sweep_id = ? AND used = (SELECT max(used) FROM sweep)",
      id.hex());
  if (Status status = db.finish(); !status) return status.error();
  if (latest == 1) return id;
  Transaction transaction(db);
  state_->expect_json(sweep.config, "the configuration of a sweep");
  // A counter and not the clock says which sweep is the latest: clocks go backwards.
  db.run(
      "INSERT INTO sweep (sweep_id, name, config, config_sha256, created_at, used)"
      " VALUES (?, ?, ?, ?, ?, (SELECT coalesce(max(used), 0) + 1 FROM sweep))"
      " ON CONFLICT (sweep_id) DO UPDATE SET used = excluded.used",
      id.hex(), sweep.name, sweep.config.text, sha256_hex(sweep.config.text), wall_clock_utc());
  for (size_t i = 0; i < sweep.cells.size(); ++i) {
    const SweepCell& cell = sweep.cells[i];
    state_->expect_json(cell.params, "the parameters of a sweep's cell");
    db.run(
        "INSERT INTO sweep_cell (sweep_id, position, cell_id, label, params, measure_ordinals)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (sweep_id, position) DO NOTHING",
        id.hex(), static_cast<int64_t>(i), cell.cell.hex(), cell.label, cell.params.text,
        encode_integers(cell.measure_ordinals));
  }
  if (Status status = transaction.commit(); !status) return status.error();
  return id;
}

Status Store::use_result(const SweepId& sweep, int64_t position, ResultId result) {
  Connection& db = state_->db;
  const int64_t used = db.integer(
      "SELECT count(*) FROM sweep_result WHERE sweep_id = ? AND position = ? AND result_id = ?",
      sweep.hex(), position, result.value);
  if (Status status = db.finish(); !status || used == 1) return status;
  Transaction transaction(db);
  db.run(
      "INSERT INTO sweep_result (sweep_id, position, kind, result_id)"
      " SELECT s.sweep_id, s.position, r.kind, r.result_id FROM sweep_cell s"
      " JOIN result r USING (cell_id) WHERE s.sweep_id = ? AND s.position = ? AND r.result_id = ?"
      " ON CONFLICT (sweep_id, position, kind) DO UPDATE SET result_id = excluded.result_id",
      sweep.hex(), position, result.value);
  state_->expect_one_change("sweep " + sweep.short_hex() + " has no place " +
                            std::to_string(position) + " for result " +
                            std::to_string(result.value));
  return transaction.commit();
}

Result<EnvironmentId> Store::put_environment(const EnvironmentRow& environment) {
  if (make_numerics_id(environment.numerics) != environment.numerics_id) {
    return internal_error(
        "numerics " + environment.numerics_id.short_hex() + " is not the id of its identity",
        path());
  }
  const EnvironmentId id(parts_digest(
      "environment", {environment.numerics.text, environment.host.text, environment.build.text}));
  Connection& db = state_->db;
  const int64_t there =
      db.integer("SELECT count(*) FROM environment WHERE environment_id = ?", id.hex());
  if (Status status = db.finish(); !status) return status.error();
  if (there == 1) return id;
  Transaction transaction(db);
  state_->expect_json(environment.numerics, "the numerics of an environment");
  state_->expect_json(environment.host, "the host facts of an environment");
  state_->expect_json(environment.build, "the build facts of an environment");
  db.run(
      "INSERT INTO environment (environment_id, numerics_id, numerics, host, build, created_at)"
      " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (environment_id) DO NOTHING",
      id.hex(), environment.numerics_id.hex(), environment.numerics.text, environment.host.text,
      environment.build.text, wall_clock_utc());
  if (Status status = transaction.commit(); !status) return status.error();
  return id;
}

}  // namespace qfs::store

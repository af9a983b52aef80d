// What was asked: sweeps, cells, data sets, texts.
#include <charconv>
#include <string>
#include <utility>

#include "harness/core/sha256.h"
#include "harness/core/suggest.h"
#include "harness/store/codec.h"
#include "harness/store/reader_state.h"
#include "harness/store/row_queries.h"

namespace qfs::store {
namespace {

constexpr const char* kCellColumns =
    "SELECT cell_id, identity, method, oracle, params, dataset_id, seed, ordinals, training,"
    " development_dataset_id FROM cell";

Result<CellRow> read_cell(Connection& db, const Query& rows) {
  CellRow cell;
  cell.id = CellId(rows.text(0));
  cell.identity = Json{rows.text(1)};
  cell.method = rows.text(2);
  cell.oracle = rows.integer(3) != 0;
  cell.params = Json{rows.text(4)};
  cell.dataset = DatasetId(rows.text(5));
  const std::string seed = rows.text(6);
  const auto [end, code] = std::from_chars(seed.data(), seed.data() + seed.size(), cell.seed);
  std::optional<std::vector<int64_t>> ordinals = decode_integers(rows.text(7));
  if (code != std::errc() || end != seed.data() + seed.size() || !ordinals) {
    return damaged(db, "cell " + cell.id.short_hex());
  }
  cell.ordinals = *std::move(ordinals);
  cell.training = rows.integer(8) != 0;
  cell.development = DatasetId(rows.text(9));
  Query needed = db.query(
      "SELECT role, training_cell_id, sha256 FROM dependency WHERE cell_id = ? ORDER BY role",
      cell.id.hex());
  while (needed.next()) {
    cell.dependencies.push_back({needed.text(0), CellId(needed.text(1)), needed.text(2)});
  }
  return db.finish(std::move(cell));
}

Result<DatasetRow> read_dataset(Connection& db, const Query& rows) {
  DatasetRow dataset;
  dataset.id = DatasetId(rows.text(0));
  std::optional<DatasetManifest> manifest = decode_manifest(rows.text(1));
  if (!manifest) return damaged(db, "the manifest of data set " + dataset.id.short_hex());
  dataset.manifest = *std::move(manifest);
  dataset.examples = rows.integer(2);
  dataset.texts_stored = rows.integer(3) != 0;
  dataset.documents_stored = rows.integer(4) != 0;
  return dataset;
}

constexpr const char* kDatasetColumns =
    "SELECT dataset_id, manifest, examples, texts_stored, documents_stored FROM dataset";

}  // namespace

Result<std::vector<SweepInfo>> Reader::sweeps() {
  Connection& db = state_->db;
  std::vector<SweepInfo> sweeps;
  Query rows = db.query(
      "SELECT s.sweep_id, (SELECT count(*) FROM sweep e WHERE e.rowid <= s.rowid), s.name,"
      " s.created_at,"
      " (SELECT count(*) FROM sweep_cell c WHERE c.sweep_id = s.sweep_id)"
      " FROM sweep s ORDER BY s.used DESC");
  while (rows.next()) {
    sweeps.push_back(
        {SweepId(rows.text(0)), rows.integer(1), rows.text(2), rows.text(3), rows.integer(4)});
  }
  return db.finish(std::move(sweeps));
}

Result<SweepRow> Reader::latest_sweep(std::string_view name) {
  const Result<std::vector<SweepInfo>> all = sweeps();
  if (!all) return all.error();
  std::vector<std::string> names;
  for (const SweepInfo& info : *all) {
    if (name.empty() || info.name == name) return sweep(info.id);
    names.push_back(info.name);
  }
  if (name.empty()) return not_found("the store holds no sweep", state_->db.path());
  return not_found("the store holds no sweep '" + std::string(name) + "'" + suggestion(name, names),
                   state_->db.path());
}

Result<SweepRow> Reader::sweep(const SweepId& id) {
  Connection& db = state_->db;
  SweepRow sweep;
  {
    Query rows =
        db.query("SELECT name, config, created_at FROM sweep WHERE sweep_id = ?", id.hex());
    if (rows.next()) {
      sweep.id = id;
      sweep.name = rows.text(0);
      sweep.config = Json{rows.text(1)};
      sweep.created_at = rows.text(2);
    }
  }
  if (Status status = db.finish(); !status) return status.error();
  if (sweep.id.empty()) return not_found("no sweep has the id " + id.short_hex(), db.path());
  Query rows = db.query(
      "SELECT cell_id, label, params, measure_ordinals FROM sweep_cell WHERE sweep_id = ?"
      " ORDER BY position",
      id.hex());
  while (rows.next()) {
    std::optional<std::vector<int64_t>> measured = decode_integers(rows.text(3));
    if (!measured) return damaged(db, "a cell of sweep " + id.short_hex());
    sweep.cells.push_back(
        {CellId(rows.text(0)), rows.text(1), Json{rows.text(2)}, *std::move(measured)});
  }
  return db.finish(std::move(sweep));
}

Result<CellRow> Reader::cell(const CellId& id) {
  Connection& db = state_->db;
  Query rows = db.query(std::string(kCellColumns) + " WHERE cell_id = ?", id.hex());
  if (rows.next()) return read_cell(db, rows);
  if (Status status = db.finish(); !status) return status.error();
  return not_found("no cell has the id " + id.short_hex(), db.path());
}

Result<std::vector<CellRow>> Reader::cells() {
  Connection& db = state_->db;
  std::vector<CellRow> cells;
  Query rows = db.query(std::string(kCellColumns) + " ORDER BY cell_id");
  while (rows.next()) {
    Result<CellRow> cell = read_cell(db, rows);
    if (!cell) return cell.error();
    cells.push_back(*std::move(cell));
  }
  return db.finish(std::move(cells));
}

Result<std::vector<CellId>> Reader::cells_with_prefix(std::string_view hex) {
  Connection& db = state_->db;
  std::vector<CellId> cells;
  Query rows = db.query(
      "SELECT cell_id FROM cell WHERE substr(cell_id, 1, length(?1)) = ?1 ORDER BY cell_id", hex);
  while (rows.next()) cells.emplace_back(rows.text(0));
  return db.finish(std::move(cells));
}

Result<std::vector<DatasetRow>> Reader::datasets() {
  Connection& db = state_->db;
  std::vector<DatasetRow> datasets;
  Query rows = db.query(std::string(kDatasetColumns) + " ORDER BY name, dataset_id");
  while (rows.next()) {
    Result<DatasetRow> dataset = read_dataset(db, rows);
    if (!dataset) return dataset.error();
    datasets.push_back(*std::move(dataset));
  }
  return db.finish(std::move(datasets));
}

Result<DatasetRow> Reader::dataset(const DatasetId& id) {
  Connection& db = state_->db;
  Query rows = db.query(std::string(kDatasetColumns) + " WHERE dataset_id = ?", id.hex());
  if (rows.next()) return read_dataset(db, rows);
  if (Status status = db.finish(); !status) return status.error();
  return not_found("no data set has the id " + id.short_hex(), db.path());
}

Result<std::vector<ExampleRow>> Reader::examples(const DatasetId& id) {
  Connection& db = state_->db;
  std::vector<ExampleRow> examples;
  Query rows = db.query(
      "SELECT ordinal, example_key, document_id, question_group, language, example_sha256,"
      " document_sha256, query_sha256, reference_sha256s FROM example WHERE dataset_id = ?"
      " ORDER BY ordinal",
      id.hex());
  while (rows.next()) {
    std::optional<std::vector<std::string>> references = decode_strings(rows.text(8));
    if (!references) {
      return damaged(
          db, "example " + std::to_string(rows.integer(0)) + " of data set " + id.short_hex());
    }
    examples.push_back({rows.integer(0), rows.text(1), rows.text(2), rows.text(3), rows.text(4),
                        rows.text(5), rows.text(6), rows.text(7), *std::move(references)});
  }
  return db.finish(std::move(examples));
}

Result<std::optional<std::string>> Reader::text(std::string_view sha256) {
  Connection& db = state_->db;
  std::optional<std::string> body;
  Query rows = db.query("SELECT body FROM text WHERE sha256 = ?", sha256);
  if (rows.next()) body = rows.text(0);
  if (body && sha256_hex(*body) != sha256) {
    return changed_outside(db, "the text " + std::string(sha256.substr(0, 12)));
  }
  return db.finish(std::move(body));
}

Result<Example> Reader::example(const DatasetId& id, int64_t ordinal, bool with_document) {
  Connection& db = state_->db;
  const std::string name = "example " + std::to_string(ordinal) + " of data set " + id.short_hex();
  Example example;
  std::string document_sha256;
  std::string query_sha256;
  std::optional<std::vector<std::string>> references;
  std::optional<std::vector<SegmentSpan>> evidence;
  {
    Query rows = db.query(
        "SELECT example_key, document_id, question_group, language, document_sha256, query_sha256,"
        " reference_sha256s, evidence, extra FROM example WHERE dataset_id = ? AND ordinal = ?",
        id.hex(), ordinal);
    if (!rows.next()) {
      if (Status status = db.finish(); !status) return status.error();
      return not_found("the store holds no " + name, db.path());
    }
    example.key = rows.text(0);
    example.document_id = rows.text(1);
    example.group = rows.text(2);
    example.language = rows.text(3);
    document_sha256 = rows.text(4);
    query_sha256 = rows.text(5);
    references = decode_strings(rows.text(6));
    evidence = decode_evidence(rows.text(7));
    example.extra = Json{rows.text(8)};
  }
  if (!references || !evidence) return damaged(db, name);
  example.evidence = *std::move(evidence);

  const auto part = [&](const char* what, std::string_view sha256) {
    Result<std::optional<std::string>> body = text(sha256);
    if (body) return body;
    Error error = body.error();
    error.message = std::string(what) + " of " + name + ": " + error.message;
    return Result<std::optional<std::string>>(std::move(error));
  };
  const Error hashes_only = unavailable(
      "the store keeps only hashes of " + name + "; the data set itself is needed", db.path());
  Result<std::optional<std::string>> query = part("the query", query_sha256);
  if (!query) return query.error();
  if (!query->has_value()) return hashes_only;
  example.query = **std::move(query);
  for (const std::string& sha256 : *references) {
    Result<std::optional<std::string>> reference = part("a reference", sha256);
    if (!reference) return reference.error();
    if (!reference->has_value()) return hashes_only;
    example.references.push_back(**std::move(reference));
  }
  if (!with_document) return example;
  const Result<std::optional<std::string>> document = part("the document", document_sha256);
  if (!document) return document.error();
  if (!document->has_value()) return example;
  std::optional<std::vector<Segment>> segments = decode_document(**document);
  if (!segments) return damaged(db, "the document of " + name);
  example.document = *std::move(segments);
  return example;
}

}  // namespace qfs::store

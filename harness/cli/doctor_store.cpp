// Integrity of a store: SQLite's own check, recomputed ids and digests, contradictions.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "datasets/identity.h"
#include "datasets/readers/record_file.h"
#include "harness/cli/doctor_checks.h"
#include "harness/cli/store_path.h"

namespace qfs::cli {
namespace {

std::string subject_of(const store::ConflictRow& conflict) {
  return fmt::format("example {}", conflict.ordinal);
}

std::string subject_of(const store::ArtifactConflictRow& conflict) {
  return fmt::format("artifact '{}'", conflict.role);
}

/// `things`: what contradicts itself, in the plural.
template <class Conflict>
void add_conflicts(store::Reader& reader, const Result<std::vector<Conflict>>& conflicts,
                   std::string_view things, std::vector<Finding>& findings) {
  if (!conflicts) {
    findings.push_back({Grade::problem, "store", conflicts.error().to_string()});
    return;
  }
  for (size_t i = 0; i < conflicts->size() && i < kMostListed; ++i) {
    const Conflict& conflict = (*conflicts)[i];
    Result<store::ResultRow> result = reader.result(conflict.result);
    const std::string cell = result ? result->key.cell.short_hex() : "unknown";
    findings.push_back(
        {Grade::note, "store",
         fmt::format("not deterministic: cell {}, {}: {} {}… and {}…", cell, subject_of(conflict),
                     things, conflict.first_sha256.substr(0, 12),
                     conflict.second_sha256.substr(0, 12))});
  }
  if (conflicts->size() > kMostListed) {
    findings.push_back(
        {Grade::note, "store",
         fmt::format("{} more contradicting {}", conflicts->size() - kMostListed, things)});
  }
}

/// Whether the texts of a data set are those that its hashes, and its id, are of.
void check_texts_of(store::Reader& reader, const store::DatasetRow& row,
                    std::vector<Finding>& findings) {
  const auto problem = [&](std::string text) {
    findings.push_back({Grade::problem, "store",
                        fmt::format("data set {} ({}): {}", row.manifest.name, row.id.short_hex(),
                                    std::move(text))});
  };
  const auto rows = reader.examples(row.id);
  if (!rows) return problem(rows.error().message);
  std::vector<std::string> hashes;
  std::map<std::string, std::string> documents;  ///< digests by the store's key of a document
  size_t wrong = 0;
  for (const store::ExampleRow& example : *rows) {
    hashes.push_back(example.sha256);
    const auto known = documents.find(example.document_sha256);
    const auto texts = reader.example(row.id, example.ordinal, known == documents.end());
    if (!texts) return problem(texts.error().message);
    const std::string document =
        known == documents.end() ? datasets::document_digest(texts->document) : known->second;
    documents.emplace(example.document_sha256, document);
    const auto hash = datasets::example_hash(*texts, document);
    if (hash && *hash == example.sha256) continue;
    if (++wrong == 1)
      problem(fmt::format("example '{}' is not the one with its hash", example.key));
  }
  if (wrong > 1)
    problem(fmt::format("{} more examples are not those with their hashes", wrong - 1));
  // The id of a user's file is also of its field map, which a store does not have.
  if (row.manifest.reader == datasets::kRecordReader) return;
  const auto id = datasets::dataset_id(row.manifest, hashes);
  if (!id || *id != row.id) problem("its id is not that of its examples");
}

void check_texts(store::Reader& reader, std::vector<Finding>& findings) {
  const auto datasets = reader.datasets();
  if (!datasets) {
    findings.push_back({Grade::problem, "store", datasets.error().to_string()});
    return;
  }
  for (const store::DatasetRow& row : *datasets) {
    if (row.texts_stored && row.documents_stored) check_texts_of(reader, row, findings);
  }
}

}  // namespace

std::vector<Finding> check_store(const GlobalOptions& global, const RescoreRequest& rescore) {
  Result<std::string> path = existing_store_path(global.store);
  if (!path) {
    const Grade grade = !global.store.empty() ? Grade::problem
                        : rescore.asked       ? Grade::unchecked
                                              : Grade::note;
    return {{grade, "store", path.error().message}};
  }
  Result<store::Reader> reader = store::Reader::open(*path, {.foreign = global.foreign});
  if (!reader) return {{Grade::problem, "store", reader.error().to_string()}};
  std::vector<Finding> findings;
  Result<std::vector<std::string>> problems = reader->check_integrity();
  if (!problems) return {{Grade::problem, "store", problems.error().to_string()}};
  for (const std::string& problem : *problems) {
    findings.push_back({Grade::problem, "store", problem});
  }
  if (problems->empty()) check_texts(*reader, findings);
  std::ranges::move(check_cells(*reader), std::back_inserter(findings));
  if (findings.empty()) {
    findings.push_back({Grade::ok, "store", *path + ": sound; ids and digests as recomputed"});
  }
  add_conflicts(*reader, reader->conflicts(), "outputs", findings);
  add_conflicts(*reader, reader->artifact_conflicts(), "files", findings);
  if (rescore.asked) {
    std::ranges::move(check_scores(*reader, rescore.data), std::back_inserter(findings));
  }
  return findings;
}

}  // namespace qfs::cli

// Integrity of a store: SQLite's own check, recomputed ids and digests, contradictions.
#include <fmt/format.h>

#include "harness/cli/doctor_checks.h"
#include "harness/cli/store_path.h"

namespace qfs::cli {
namespace {

constexpr size_t kMostListed = 10;

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

}  // namespace

std::vector<Finding> check_store(const GlobalOptions& global) {
  Result<std::string> path = existing_store_path(global.store);
  if (!path) {
    const Grade grade = global.store.empty() ? Grade::note : Grade::problem;
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
  if (problems->empty()) {
    findings.push_back({Grade::ok, "store", *path + ": sound; ids and digests as recomputed"});
  }
  add_conflicts(*reader, reader->conflicts(), "outputs", findings);
  add_conflicts(*reader, reader->artifact_conflicts(), "files", findings);
  return findings;
}

}  // namespace qfs::cli

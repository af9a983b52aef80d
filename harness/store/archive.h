// The archive form of a store: a folder of JSON lines and a manifest with their SHA-256, for git,
// for publication and for a machine years later. Called by `export` and `import`.
//
// Equal content gives equal bytes. Trained files are not in it, only their digests. Not
// thread-safe. `store` errors for stores, `data` for archives that are damaged, incomplete or
// changed, `unavailable` for folders that cannot be written.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "harness/api/result.h"
#include "harness/store/merge.h"

namespace qfs::store {

struct ExportOptions {
  bool strip_texts = false;  ///< documents, queries, references, prompts: hashes only
  bool foreign = false;      ///< the store is a stranger's
};

struct ExportSummary {
  std::map<std::string, int64_t> rows;  ///< by table
  int64_t bytes = 0;
};

/// Makes the folder, or replaces the archive that is in it; other files stay. The manifest comes
/// last: without it a folder is no archive.
Result<ExportSummary> export_store(const std::string& store, const std::string& folder,
                                   const ExportOptions& options = {});

/// Checks every digest, builds a store of its own and merges it into `store`.
Result<MergeOutcome> import_archive(const std::string& folder, const std::string& store,
                                    const MergeOptions& options = {});

}  // namespace qfs::store

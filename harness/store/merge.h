// merge_store: takes what another store holds into this one — results of a shard that ran
// elsewhere, or of a stranger. Called by `merge` and `import`.
//
// Idempotent: what is there stays as it is, and a second merge of the same store writes nothing.
// One transaction a source, so that a killed merge has taken all of it or nothing. The source is
// handled as a foreign store: copied, its schema compared, every digest recomputed. Not
// thread-safe; `store` errors for files that cannot be used, `data` for what contradicts itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/api/ids.h"
#include "harness/api/result.h"
#include "harness/store/rows.h"

namespace qfs::store {

struct MergeOptions {
  /// A contradiction is a `store` error, and nothing of the source is taken.
  bool strict = false;
};

/// The same cell, computed in the same way, gave something else: evidence of non-determinism. What
/// was there first is kept, the other one stored as a conflict.
struct MergeConflict {
  CellId cell;
  NumericsId numerics;
  std::string method;
  std::string subject;  ///< "example 5", "artifact 'adapter'", "rouge rouge1.f"
  std::string kept;     ///< the beginning of the text, a digest or a value
  std::string other;
  EnvironmentId kept_environment;  ///< empty for scores
  EnvironmentId other_environment;
};

/// What one merge did: rows that are new, and contradictions, those of earlier merges included.
struct MergeOutcome {
  int64_t datasets = 0;
  int64_t cells = 0;
  int64_t sweeps = 0;
  int64_t results = 0;
  int64_t attempts = 0;
  int64_t outputs = 0;
  int64_t repetitions = 0;
  int64_t artifacts = 0;
  int64_t scores = 0;
  int64_t scores_left = 0;    ///< not taken: made of outputs that differ from those here
  int64_t missing_files = 0;  ///< trained files that were not beside the source
  int64_t conflicts = 0;
  bool begun = true;  ///< false: an empty file, of a shard that was stopped before it was a store
  std::vector<MergeConflict> shown;  ///< of the conflicts, at most kMostShownConflicts
};

inline constexpr int64_t kMostShownConflicts = 100;

/// The destination is made when there is none, unless the source was never begun.
Result<MergeOutcome> merge_store(const std::string& destination, const std::string& source,
                                 const MergeOptions& options = {});

}  // namespace qfs::store

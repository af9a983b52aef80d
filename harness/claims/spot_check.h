// Spot checks: some of a cell's examples, drawn by a seed, generated again and compared with what a
// file says was generated; and the references of the file beside those of the data set.
//
// Called by `verify`. Runs hosts through a temporary store; not thread-safe. Errors are those of
// planning, matching and running.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/plan/plan.h"
#include "harness/run/run.h"
#include "harness/score/file_analyses.h"

namespace qfs::claims {

struct SpotCheck {
  int64_t examples = 0;                       ///< generated again
  std::vector<std::string> different;         ///< keys whose text is another one
  int64_t of = 0;                             ///< examples of the cell that have an output
  int64_t missing = 0;                        ///< those that have none
  std::vector<std::string> other_references;  ///< keys whose references are not the data set's
  int interrupted_by = 0;                     ///< the signal that stopped it; nothing is said then
};

/// The largest share of differing outputs that would show this few, or fewer, with a probability of
/// 5 %: an exact one-sided bound (Clopper and Pearson); 1 - 0.05^(1/n), about 3/n, where none did.
double upper_bound(int64_t examples, int64_t different);

/// `count` positions below `all`, ascending, by seed.
std::vector<int64_t> drawn(int64_t all, int64_t count, uint64_t seed);

/// What a number was computed from.
struct ScoredFile {
  plan::ImportedFile outputs;
  score::KeptItems items;  ///< the same outputs beside their references, as they are scored
};

/// Runs `count` examples of the plan's only cell and compares them with the outputs; with those of
/// a line file, which has lost their line breaks, but for white space. References are compared but
/// for white space, all of them. A cell of fewer examples than the file has outputs is refused.
Result<SpotCheck> spot_check(plan::Plan plan, const ScoredFile& file, int64_t count, uint64_t seed,
                             const run::RunOptions& options, run::Progress& progress);

/// "20 of 1257 outputs, drawn by seed 7, were generated again: all are equal. …"
std::string bound_text(const SpotCheck& check, uint64_t seed);

}  // namespace qfs::claims

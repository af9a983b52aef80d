// `plan --shards N --emit KIND`: writes the script and the manifest by which workers run what a
// store lacks of a plan; `sweep --slots` starts them itself. Errors are those of writing files, and
// `invalid_argument` for names that a script cannot hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/cli/sweep_input.h"
#include "harness/plan/shards.h"

namespace qfs::cli {

struct ShardOptions {
  std::optional<int64_t> shards;
  std::string emit;    ///< "shell", "parallel" or "slurm"
  std::string output;  ///< the script; the manifest is beside it
};

/// What a store lacks of a plan, cut.
struct MissingShards {
  std::vector<plan::Shard> shards;
  bool trained = false;  ///< some cell predicts with what the store has trained already
};
/// `with_failed`: cells that failed are to run again.
Result<MissingShards> missing_shards(const plan::Plan& plan, const std::string& store_path,
                                     const run::RunOptions& run, size_t count, bool with_failed);

/// The options of a sweep that say what is run, as a worker takes them.
std::vector<std::string> options_of_workers(const SweepOptions& sweep);

/// `as_json`: says what was written as a document.
Status emit_shards(const plan::Plan& plan, const std::string& store_path,
                   const run::RunOptions& run, const SweepOptions& sweep,
                   const ShardOptions& options, bool as_json);

}  // namespace qfs::cli

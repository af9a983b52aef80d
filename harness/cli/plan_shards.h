// `plan --shards N --emit KIND`: writes the script and the manifest by which workers run what a
// store lacks of a plan. Errors are those of writing files, and `invalid_argument` for names that a
// script cannot hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/api/result.h"
#include "harness/cli/sweep_input.h"

namespace qfs::cli {

struct ShardOptions {
  std::optional<int64_t> shards;
  std::string emit;    ///< "shell", "parallel" or "slurm"
  std::string output;  ///< the script; the manifest is beside it
};

/// `as_json`: says what was written as a document.
Status emit_shards(const plan::Plan& plan, const std::string& store_path,
                   const run::RunOptions& run, const SweepOptions& sweep,
                   const ShardOptions& options, bool as_json);

}  // namespace qfs::cli

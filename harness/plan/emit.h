// Scripts that run the shards of a plan: by a shell, by GNU parallel or as a Slurm array. They need
// nothing but the program and what they are named after; no daemon, no scheduler of our own.
//
// Used by `plan --shards N --emit KIND`. Pure functions of their request: equal requests give equal
// bytes. Thread-safe; cannot fail.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/plan/shards.h"

namespace qfs::plan {

enum class EmitKind { shell, parallel, slurm };

struct EmitRequest {
  EmitKind kind = EmitKind::shell;
  std::string sweep;                 ///< its name
  std::string file;                  ///< the sweep file
  std::vector<std::string> options;  ///< of plan, which workers and sweep get too
  std::string manifest;              ///< path
  std::string store;                 ///< where everything is merged
  std::vector<Shard> shards;         ///< one or more
  bool measured = false;             ///< the sweep times its cells
  bool trained = false;              ///< the store has trained files that workers use
};

/// Where the stores of shards lie: "lc_sweep.sqlite" -> "lc_sweep.shards".
std::string shards_folder(const std::string& store);

/// The script; it runs in the folder in which `plan` ran, as often as one likes.
std::string emitted_script(const EmitRequest& request);

}  // namespace qfs::plan

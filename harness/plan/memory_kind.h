// Memory kinds: cells that differ in nothing but a length. Where the sweep says so
// ("out_of_memory": {"implied_by": …}), one that runs out of memory stands for the longer ones.
//
// Used by the policy of run_plan, which implies them, and by shards, which keep them together.
// Pure; thread-safe; cannot fail.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/plan/plan.h"

namespace qfs::plan {

struct MemoryKind {
  std::string kind;  ///< equal for cells that differ in nothing but the length
  int64_t length = 0;
};

/// None where the sweep implies nothing, and for a cell without the parameter.
std::optional<MemoryKind> memory_kind(const Plan& plan, const Cell& cell);

}  // namespace qfs::plan

// Float32 kernel of a compressive memory on a CPU for a segment (nn/infini_memory.h has the
// formulas): what tokens that leave the window change, what the segment's queries read then beside
// what the window gave them, and the gradients of that.
//
// Called by fused_memory.h; step_memory does the same of one token. Of what is read nothing is kept
// between the two directions but what goes in. Plain pointers, row-major, no aliasing. A value does
// not depend on the number of threads. Thread-safe; throws std::bad_alloc.
#pragma once

#include <cstdint>

#include "methods/models/kernels/tasks.h"

namespace qfs::kernels {

/// As many heads of queries share one of keys and values.
struct MemoryHeads {
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t dim = 0;
};

/// What a layer remembers.
struct HeldMemory {
  const float* all = nullptr;    ///< M: [kv_heads, dim, dim]
  const float* norm = nullptr;   ///< z: [kv_heads, dim]
  const float* asked = nullptr;  ///< M_query: [heads, dim, dim]; null: the memory asks nothing
};

/// Tokens that leave the window, and the memory that takes them in.
struct LeavingTokens {
  HeldMemory before;  ///< without matrices where nothing is remembered yet
  int64_t tokens = 0;
  const float* keys = nullptr;       ///< [tokens, kv_heads, dim], not rotated
  const float* values = nullptr;     ///< [tokens, kv_heads, dim]
  const float* relevance = nullptr;  ///< [heads, tokens]; null: the memory asks nothing
  bool delta = false;                ///< the rule by which values are written
};

/// What a segment's queries read, merged with what the window gave them.
struct MemoryReading {
  MemoryHeads of;
  int64_t tokens = 0;
  HeldMemory memory;
  const float* beta = nullptr;     ///< [heads]
  const float* weight = nullptr;   ///< w_g: [dim]; only where the memory asks
  const float* bias = nullptr;     ///< b_g: [1]; null: none
  const float* queries = nullptr;  ///< [tokens, heads, dim], not rotated
  const float* local = nullptr;    ///< [tokens, heads, dim]
};

/// Room for what is remembered then, in the shapes of HeldMemory.
struct WrittenMemory {
  float* all = nullptr;
  float* norm = nullptr;
  float* asked = nullptr;
};

/// `leaving` into `after`, which `reading` is of; merged: [tokens, heads, dim].
void pass_memory(const LeavingTokens& leaving, const WrittenMemory& after,
                 const MemoryReading& reading, float* merged, const ForItems& for_items);

/// In the shapes of what they are of; null where that is.
struct ReadingGradients {
  float* beta = nullptr;
  float* weight = nullptr;
  float* bias = nullptr;
  float* queries = nullptr;
  float* local = nullptr;
};

/// `above`: gradients of `merged`.
void pass_memory_back(const MemoryReading& reading, const float* above,
                      const ReadingGradients& gradients, const ForItems& for_items);

}  // namespace qfs::kernels

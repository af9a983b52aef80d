// Float32 kernel of a compressive memory on a CPU (nn/infini_memory.h has its formulas): what one
// token that leaves the window changes, and what the queries of the next token read then, in one
// pass over a head's matrices.
//
// Called by models that decode with one. Plain pointers, row-major, no aliasing. Every sum has one
// order, so equal inputs give equal bits with every instruction set. Thread-safe; cannot fail.
#pragma once

#include <cstdint>

namespace qfs::kernels {

/// Of one head of keys, which `queries` heads of queries share.
struct MemoryStep {
  int64_t dim = 0;
  int64_t queries = 0;
  bool delta = false;  ///< the rule by which values are written
  bool first = false;  ///< nothing is remembered yet, and the memory's values mean nothing

  const float* key = nullptr;    ///< [dim], of the token that leaves the window; not rotated
  const float* value = nullptr;  ///< [dim]
  float* all = nullptr;          ///< M: [dim, dim]
  float* norm = nullptr;         ///< z: [dim]

  const float* query = nullptr;  ///< [queries, dim], not rotated
  float* past = nullptr;         ///< [queries, dim]: what they read

  // Null, but for a query-focused memory:
  float* asked = nullptr;         ///< M_query: [queries, dim, dim]
  const float* asking = nullptr;  ///< mean queries of the instruction [queries, dim]
  float relevance_scale = 1;      ///< of their products with the key
  const float* weight = nullptr;  ///< w_g: [dim]
  float bias = 0;                 ///< b_g

  float* scratch = nullptr;  ///< memory_scratch(dim) floats
};

constexpr int64_t memory_scratch(int64_t dim) { return 4 * dim; }

void step_memory(const MemoryStep& step);

}  // namespace qfs::kernels

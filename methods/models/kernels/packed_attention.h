// Causal self-attention of one sequence in float32 and its gradients, as products with packed keys
// and values.
//
// Called by what trains on a CPU. Between the two directions nothing is kept but the rows: the
// shares of keys are computed again (Dao et al. 2022, without their running maximum, for the scores
// of a block of queries are there at once). A value does not depend on the number of threads.
// Thread-safe; throws std::bad_alloc.
#pragma once

#include <cstdint>

#include "methods/models/kernels/tasks.h"

namespace qfs::kernels {

/// Queries, keys and values of tokens beside one another, rotated where a model rotates:
/// [tokens, (heads + 2 kv_heads) dim]. As many heads of queries share one of keys and values.
struct AttentionRows {
  const float* rows = nullptr;
  int64_t tokens = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t dim = 0;

  int64_t width() const { return (heads + 2 * kv_heads) * dim; }
};

/// Each token to itself and those before it: out [tokens, heads dim]. Scores are divided by the
/// square root of dim.
void attend_causally(const AttentionRows& tokens, float* out, const ForItems& for_items);

/// Gradients of `tokens`, in their shape, from those of `out`.
void attend_causally_back(const AttentionRows& tokens, const float* above, float* gradients,
                          const ForItems& for_items);

}  // namespace qfs::kernels

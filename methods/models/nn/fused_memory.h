// What infini_memory.h says of a segment, by one kernel of a CPU: tokens that leave the window are
// remembered, and the segment's queries read and merge what is, with gradients.
//
// Used by segment_attention.h. Computes in float32, whatever the type of states. Thread-safe.
// LibTorch's exceptions pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include "methods/models/nn/infini_memory.h"

namespace qfs::nn {

/// Whether it does that for such states: on a CPU, but not in float64.
bool has_memory_kernel(const at::Tensor& states);

/// Tokens that leave the window.
struct Leaving {
  at::Tensor keys;       ///< [tokens, kv_heads, dim], not rotated
  at::Tensor values;     ///< likewise
  at::Tensor relevance;  ///< [heads, tokens]; undefined: the memory asks nothing
};

/// `memory` becomes remembered() of it and `leaving`. Then merged() of what queries [tokens, heads,
/// dim] recall of that, and `local` [tokens, heads * dim], in its shape and type.
at::Tensor pass_by_kernel(MemoryRule rule, const InfiniScalars& scalars, const Leaving& leaving,
                          const at::Tensor& queries, const at::Tensor& local, LayerMemory& memory);

}  // namespace qfs::nn

// What infini_memory.h says of many tokens, by the kernels of a CPU: one pass to remember, one to
// read and merge, with gradients.
//
// Used by segment_attention.h. Computes in float32, whatever the type of states. Thread-safe.
// LibTorch's exceptions pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include "methods/models/nn/infini_memory.h"

namespace qfs::nn {

/// Whether they do it for such states: on a CPU, but not in float64.
bool has_memory_kernels(const at::Tensor& states);

/// remembered(), of keys and values [tokens, kv_heads, dim].
LayerMemory remembered_by_kernels(MemoryRule rule, const LayerMemory& before,
                                  const at::Tensor& keys, const at::Tensor& values,
                                  const at::Tensor& relevance);

/// merged() of what queries [tokens, heads, dim] recall of a memory that is not empty, and `local`
/// [tokens, heads * dim], in its shape and type.
at::Tensor merged_by_kernels(const InfiniScalars& scalars, const LayerMemory& memory,
                             const at::Tensor& queries, const at::Tensor& local);

}  // namespace qfs::nn

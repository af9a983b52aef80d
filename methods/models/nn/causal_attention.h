// Causal attention of a whole sequence at once, as LibTorch computes it.
//
// Used by architectures that read a sequence alone; gradients pass. Pure; thread-safe. LibTorch's
// exceptions pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace qfs::nn {

/// qkv [tokens, 3 heads * dim] (queries, keys, values) to [tokens, heads * dim]. Scores are divided
/// by the square root of dim.
at::Tensor causal_attention(const at::Tensor& qkv, int64_t heads);

}  // namespace qfs::nn

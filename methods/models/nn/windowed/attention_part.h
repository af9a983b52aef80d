// AttentionPart: attention of queries to some of the keys, with what is needed to join it to their
// attention to the others as if one softmax had been taken over all.
//
// Called by merged_attention.h and window_pass.h. Pure; thread-safe. LibTorch's exceptions pass
// through (callers guard). Parts are float32, or float64 of float64 inputs. The log-sum-exp rule is
// that of Dao et al. 2022 (FlashAttention), section 3.1.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace qfs::backbones {

struct AttentionPart {
  at::Tensor output;       ///< [1, heads, queries, head_dim]; 0 for a query without keys
  at::Tensor log_sum_exp;  ///< [1, heads, queries] of the scaled scores; -inf without keys
};

/// Every score at once. `queries` [1, heads, queries, head_dim], `keys` and `values` [1, heads,
/// keys, head_dim]; `seen` bool [queries, keys].
AttentionPart attend_to(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                        const at::Tensor& seen);

/// Attention to the keys of both, which must have none in common.
AttentionPart merged(const AttentionPart& a, const AttentionPart& b);

/// Parts of consecutive queries, one after another.
AttentionPart joined(const std::vector<AttentionPart>& parts);

}  // namespace qfs::backbones

#include "methods/models/nn/causal_attention.h"

#include <ATen/ops/scaled_dot_product_attention.h>

#include <optional>

namespace qfs::nn {

Projections projections_of(const at::Tensor& qkv, const DecoderShape& shape, const Rotations& at) {
  const at::Tensor heads =
      qkv.view({qkv.size(0), shape.heads + 2 * shape.kv_heads, shape.head_dim});
  const at::Tensor queries = heads.narrow(1, 0, shape.heads);
  const at::Tensor keys = heads.narrow(1, shape.heads, shape.kv_heads);
  const at::Tensor values = heads.narrow(1, shape.heads + shape.kv_heads, shape.kv_heads);
  if (!at.cosines.defined()) return {queries, keys, values};
  return {rotated(queries, at), rotated(keys, at), values};
}

at::Tensor causal_attention(const Projections& sequence) {
  const int64_t sharing = sequence.queries.size(1) / sequence.keys.size(1);
  const auto heads_first = [&](const at::Tensor& states) {
    return states.transpose(0, 1).unsqueeze(0);
  };
  const auto shared = [&](const at::Tensor& states) {
    return sharing == 1 ? heads_first(states) : heads_first(states).repeat_interleave(sharing, 1);
  };
  return at::scaled_dot_product_attention(heads_first(sequence.queries), shared(sequence.keys),
                                          shared(sequence.values), std::nullopt, 0.0, true)
      .squeeze(0)
      .transpose(0, 1)
      .flatten(1);
}

}  // namespace qfs::nn

#include "methods/models/nn/causal_attention.h"

#include <ATen/ops/scaled_dot_product_attention.h>

#include <optional>

namespace qfs::nn {

at::Tensor causal_attention(const at::Tensor& qkv, int64_t heads) {
  const at::Tensor parts = qkv.view({1, qkv.size(0), 3, heads, -1}).permute({2, 0, 3, 1, 4});
  return at::scaled_dot_product_attention(parts.select(0, 0), parts.select(0, 1),
                                          parts.select(0, 2), std::nullopt, 0.0, true)
      .squeeze(0)
      .transpose(0, 1)
      .flatten(1);
}

}  // namespace qfs::nn

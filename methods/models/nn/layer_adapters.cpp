#include "methods/models/nn/layer_adapters.h"

#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>

#include <cmath>

namespace qfs::nn {

at::Tensor apply(const ParallelMlp& mlp, const at::Tensor& x) {
  return at::linear(at::silu(at::linear(x, mlp.down, mlp.down_bias)), mlp.up, mlp.up_bias);
}

at::Tensor prompt_attention(const at::Tensor& queries, const PromptHeads& prompt) {
  const int64_t rows = queries.size(0);
  const int64_t heads = queries.size(1);
  const int64_t dim = queries.size(2);
  const int64_t kv_heads = prompt.keys.size(0);
  const int64_t sharing = heads / kv_heads;
  const at::Tensor asking = queries.reshape({rows, kv_heads, sharing, dim})
                                .transpose(0, 1)
                                .reshape({kv_heads, rows * sharing, dim});
  const at::Tensor scores =
      at::matmul(asking, prompt.keys.transpose(1, 2)) * (1 / std::sqrt(static_cast<double>(dim)));
  const at::Tensor shares =
      at::softmax(scores, -1, c10::promoteTypes(queries.scalar_type(), at::kFloat))
          .to(queries.scalar_type());
  const at::Tensor read = at::matmul(shares, prompt.values)
                              .view({kv_heads, rows, sharing, dim})
                              .transpose(0, 1)
                              .reshape({rows, heads, dim});
  return (read * prompt.gate.view({heads, 1})).flatten(1);
}

}  // namespace qfs::nn

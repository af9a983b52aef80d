#include "methods/models/architectures/llama/llama_bfloat16.h"

#include <c10/util/BFloat16.h>

#include <utility>
#include <vector>

#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::architectures {

namespace {

using checkpoints::TensorType;

nn::Matrix rounded(const nn::Matrix& source) {
  if (source.type == TensorType::bf16) return source;
  nn::Matrix result;
  result.type = TensorType::bf16;
  result.rows = source.rows;
  result.columns = source.columns;
  result.row_bytes = source.columns * static_cast<int64_t>(sizeof(c10::BFloat16));
  result.data = std::make_shared_for_overwrite<std::byte[]>(
      static_cast<size_t>(result.rows * result.row_bytes));
  std::vector<float> row(static_cast<size_t>(source.columns));
  for (int64_t i = 0; i < source.rows; ++i) {
    kernels::cpu_kernels().expand(source.type, source.row(i), source.columns, row.data());
    auto* out = reinterpret_cast<c10::BFloat16*>(result.row(i));
    for (const float value : row) *out++ = value;
  }
  return result;
}

std::vector<float> rounded(const std::vector<float>& source) {
  std::vector<float> result;
  result.reserve(source.size());
  for (const float value : source) result.push_back(c10::BFloat16(value));
  return result;
}

LlamaLayer rounded(const LlamaLayer& layer) {
  return {.attention_norm = rounded(layer.attention_norm),
          .qkv = rounded(layer.qkv),
          .attention_output = rounded(layer.attention_output),
          .mlp_norm = rounded(layer.mlp_norm),
          .gate_up = rounded(layer.gate_up),
          .down = rounded(layer.down),
          .qkv_bias = rounded(layer.qkv_bias),
          .output_bias = rounded(layer.output_bias),
          .gate_up_bias = rounded(layer.gate_up_bias),
          .down_bias = rounded(layer.down_bias)};
}

}  // namespace

Result<std::shared_ptr<const LlamaWeights>> rounded_to_bfloat16(
    std::shared_ptr<const LlamaWeights> weights) {
  using Rounded = Result<std::shared_ptr<const LlamaWeights>>;
  return nn::guarded("rounding weights to bfloat16", [&]() -> Rounded {
    auto result = std::make_shared<LlamaWeights>();
    result->config = weights->config;
    result->embedding = rounded(weights->embedding);
    result->embedding_norm = rounded(weights->embedding_norm);
    result->embedding_norm_bias = rounded(weights->embedding_norm_bias);
    for (const LlamaLayer& layer : weights->layers) result->layers.push_back(rounded(layer));
    result->output_norm = rounded(weights->output_norm);
    const bool tied = weights->head.data == weights->embedding.data;
    result->head = tied ? result->embedding : rounded(weights->head);
    return std::shared_ptr<const LlamaWeights>(std::move(result));
  });
}

}  // namespace qfs::architectures

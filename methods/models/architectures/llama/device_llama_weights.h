// The weights of a LLaMA-type model as tensors of one element type on one device.
//
// Made from LlamaWeights by copy_to_device; immutable and thread-safe afterwards. Plain structs.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/architectures/llama/llama_weights.h"
#include "methods/models/nn/dense.h"

namespace qfs::architectures {

/// Matrices are [outputs, inputs]; fused as in LlamaLayer.
struct DeviceLlamaLayer {
  at::Tensor attention_norm;
  at::Tensor qkv;
  at::Tensor attention_output;
  at::Tensor mlp_norm;
  at::Tensor gate_up;
  at::Tensor down;
  // Undefined where there is none.
  at::Tensor qkv_bias;
  at::Tensor output_bias;
  at::Tensor gate_up_bias;
  at::Tensor down_bias;
};

struct DeviceLlamaWeights {
  LlamaConfig config;
  at::Tensor embedding;          ///< [vocabulary, hidden]
  nn::LayerNorm embedding_norm;  ///< undefined without LlamaConfig::embedding_norm
  std::vector<DeviceLlamaLayer> layers;
  at::Tensor output_norm;
  at::Tensor head;  ///< the embedding's memory where the checkpoint ties them
};

/// The residual stream of tokens at the first layer: ids int64 [tokens] to [tokens, hidden].
at::Tensor embed(const DeviceLlamaWeights& weights, const at::Tensor& ids);

/// Expands packed matrices one at a time and copies them; rounds to `type` once. `out_of_memory`.
Result<std::shared_ptr<const DeviceLlamaWeights>> copy_to_device(const LlamaWeights& weights,
                                                                 at::Device device,
                                                                 at::ScalarType type);

}  // namespace qfs::architectures

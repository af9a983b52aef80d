// A LLaMA-type model over tensors of one element type on one device, or over packed matrices.
//
// Made from the packed weights; used on devices and wherever layers are reached into. Immutable;
// thread-safe. Sources: Touvron et al. 2023 (RMSNorm, RoPE, SwiGLU); transformers 5.23,
// modeling_llama.py.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/architectures/llama/llama_weights.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/nn/weights.h"

namespace qfs::architectures {

/// Matrices are fused as in LlamaLayer.
struct LlamaTensorLayer {
  at::Tensor attention_norm;
  nn::Linear qkv;
  nn::Linear attention_output;
  at::Tensor mlp_norm;
  nn::Linear gate_up;
  nn::Linear down;
};

struct LlamaTensors {
  LlamaConfig config;
  nn::Linear embedding;          ///< [vocabulary, hidden]
  nn::LayerNorm embedding_norm;  ///< undefined without LlamaConfig::embedding_norm
  std::vector<LlamaTensorLayer> layers;
  at::Tensor output_norm;
  nn::Linear head;  ///< the embedding's memory where the checkpoint ties them
};

/// Expands packed matrices one at a time and copies them; rounds to `type` once. `out_of_memory`.
Result<std::shared_ptr<const LlamaTensors>> copy_to_device(const LlamaWeights& weights,
                                                           at::Device device, at::ScalarType type);

/// Matrices as they are in memory, without a copy (nn::Linear::packed), beside norms and biases.
Result<std::shared_ptr<const LlamaTensors>> packed_views(const LlamaWeights& weights);

/// Keys and values out of qkv [rows, query_width + 2 kv_width]: [2, kv_heads, rows, head_dim].
at::Tensor keys_values_of(const at::Tensor& qkv, const LlamaConfig& config);

/// The list of all weights under the names of transformers.
void visit_weights(LlamaTensors& weights, nn::WeightVisitor& visitor);

std::shared_ptr<const nn::Decoder> make_llama_decoder(std::shared_ptr<const LlamaTensors> weights);

}  // namespace qfs::architectures

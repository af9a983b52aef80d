// The weights of a LLaMA-type model in the layout the forward pass wants.
//
// Made by load_llama_weights in a host; immutable and thread-safe afterwards. Plain structs.
#pragma once

#include <memory>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/architectures/llama/llama_config.h"
#include "methods/models/checkpoints/checkpoint.h"
#include "methods/models/checkpoints/gguf.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/matrix.h"

namespace qfs::architectures {

/// Matrices are [outputs, inputs]. A bias is as long as its matrix has rows, or empty: there is
/// none.
struct LlamaLayer {
  std::vector<float> attention_norm;  ///< [hidden]
  nn::Matrix qkv;                     ///< queries, keys, values: [query_width + 2 kv_width, hidden]
  nn::Matrix attention_output;        ///< [hidden, query_width]
  std::vector<float> mlp_norm;        ///< [hidden]
  nn::Matrix gate_up;                 ///< gate, then up: [2 intermediate, hidden]
  nn::Matrix down;                    ///< [hidden, intermediate]
  std::vector<float> qkv_bias;
  std::vector<float> output_bias;
  std::vector<float> gate_up_bias;
  std::vector<float> down_bias;
};

struct LlamaWeights {
  LlamaConfig config;
  nn::Matrix embedding;  ///< [vocabulary, hidden]
  // [hidden]; empty without LlamaConfig::embedding_norm.
  std::vector<float> embedding_norm;
  std::vector<float> embedding_norm_bias;
  std::vector<LlamaLayer> layers;
  std::vector<float> output_norm;  ///< [hidden]
  nn::Matrix head;                 ///< [vocabulary, hidden]; the embedding where the file ties them
};

/// Reads and arranges all tensors; rows of query and key projections of a GGUF file are put back
/// into the half-split order of the original checkpoint. Errors: `data` (a tensor is missing or has
/// another shape), `unavailable` (storage type, or a tensor that is not part of this architecture),
/// `out_of_memory`.
Result<std::shared_ptr<const LlamaWeights>> load_llama_weights(
    const std::shared_ptr<const checkpoints::GgufFile>& file);
Result<std::shared_ptr<const LlamaWeights>> load_llama_weights(
    const checkpoints::ModelDirectory& directory);

}  // namespace qfs::architectures

// The weights of a GPT-2 as tensors.
//
// Made by load_gpt2_weights in a host; immutable and thread-safe afterwards. Plain structs.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/architectures/gpt2/gpt2_config.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/dense.h"

namespace qfs::architectures {

struct Gpt2Layer {
  nn::LayerNorm attention_norm;
  nn::Linear qkv;  ///< queries, keys, values below one another: [3 hidden, hidden]
  nn::Linear attention_output;
  nn::LayerNorm mlp_norm;
  nn::Linear up;
  nn::Linear down;
};

struct Gpt2Weights {
  Gpt2Config config;
  at::Tensor token_embeddings;  ///< [vocabulary, hidden]
  at::Tensor positions;         ///< [context, hidden]
  std::vector<Gpt2Layer> layers;
  nn::LayerNorm last_norm;
  nn::Linear head;  ///< [vocabulary, hidden], `words` where they are tied; its bias is 0
};

/// Reads a folder, float32 on the CPU; names with and without the prefix "transformer.". Errors:
/// those of read_gpt2_config and open_weights; `data` naming tensors that are missing, misshaped or
/// unknown, or a head that differs from the embedding to which it is tied; `unavailable` (storage
/// type), `out_of_memory`.
Result<std::shared_ptr<const Gpt2Weights>> load_gpt2_weights(
    const checkpoints::ModelDirectory& directory);

}  // namespace qfs::architectures

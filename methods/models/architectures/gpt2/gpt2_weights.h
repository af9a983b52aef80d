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

namespace qfs::backbones {

struct Gpt2Layer {
  LayerNorm attention_norm;
  Linear qkv;  ///< queries, keys, values below one another: [3 hidden, hidden]
  Linear attention_output;
  LayerNorm mlp_norm;
  Linear up;
  Linear down;
};

struct Gpt2Weights {
  Gpt2Config config;
  at::Tensor words;      ///< [vocabulary, hidden]
  at::Tensor positions;  ///< [context, hidden]
  std::vector<Gpt2Layer> layers;
  LayerNorm last_norm;
  Linear head;  ///< [vocabulary, hidden], `words` where they are tied; its bias is 0
};

/// Reads a folder, float32 on the CPU; names with and without the prefix "transformer.". Errors:
/// those of read_gpt2_config and open_weights; `data` naming tensors that are missing, misshaped or
/// unknown, or a head that differs from the embedding to which it is tied; `unavailable` (storage
/// type), `out_of_memory`.
Result<std::shared_ptr<const Gpt2Weights>> load_gpt2_weights(
    const checkpoints::ModelDirectory& directory);

}  // namespace qfs::backbones

// The weights of a text encoder as tensors.
//
// Made by load_encoder_weights in a host; immutable and thread-safe afterwards. Plain structs.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/architectures/bert/encoder_config.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/nn/weights.h"

namespace qfs::architectures {

struct EncoderLayer {
  nn::Linear qkv;  ///< queries, keys, values below one another: [3 hidden, hidden]
  nn::Linear attention_output;
  nn::LayerNorm attention_norm;
  nn::Linear up;
  nn::Linear down;
  nn::LayerNorm output_norm;
};

struct EncoderWeights {
  EncoderConfig config;
  at::Tensor token_embeddings;  ///< [vocabulary, hidden]
  at::Tensor positions;         ///< [position_rows, hidden]
  at::Tensor segments;          ///< [segments, hidden]; undefined without
  nn::LayerNorm norm;           ///< of the embeddings; undefined without `embedding_norm`
  nn::LayerNorm last_norm;      ///< of the last states; undefined without `pre_norm`
  std::vector<EncoderLayer> layers;
};

/// The weights of a folder under the names of transformers: those of AllenAI's own LED, norms with
/// TensorFlow's names, and the BERT in a folder of DPR's are renamed.
Result<std::shared_ptr<const checkpoints::Checkpoint>> open_encoder_checkpoint(
    const checkpoints::ModelDirectory& directory);

/// Reads the encoder of a folder, float32 on the CPU; of an encoder-decoder model the encoder
/// alone. Errors: those of read_encoder_config and open_weights; `data` naming tensors that are
/// missing, misshaped or unknown; `unavailable` (storage type), `out_of_memory`.
Result<std::shared_ptr<const EncoderWeights>> load_encoder_weights(
    const checkpoints::ModelDirectory& directory);

/// Where the encoder takes adapters, by its names without the prefix of a model with a head. They
/// go to TransformerEncoder.
nn::AdapterPlaces adapter_places(const EncoderWeights& weights);

/// The list of the encoder's weights; `embeddings`: the name of the token embeddings.
void visit_weights(EncoderWeights& weights, const std::string& embeddings,
                   nn::WeightVisitor& visitor);

}  // namespace qfs::architectures

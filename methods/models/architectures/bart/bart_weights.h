// The weights of a BART-type encoder-decoder as tensors.
//
// Made by load_bart_weights; immutable and thread-safe afterwards. Plain structs.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/architectures/bart/bart_config.h"
#include "methods/models/architectures/bert/encoder_weights.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/dense.h"
#include "methods/models/nn/windowed/global_projections.h"

namespace qfs::architectures {

struct DecoderLayer {
  nn::Linear self_qkv;  ///< queries, keys, values below one another: [3 hidden, hidden]
  nn::Linear self_output;
  nn::LayerNorm self_norm;
  nn::Linear cross_query;
  nn::Linear cross_key_value;  ///< [2 hidden, hidden], applied to the encoder's states
  nn::Linear cross_output;
  nn::LayerNorm cross_norm;
  nn::Linear up;
  nn::Linear down;
  nn::LayerNorm output_norm;
};

struct BartWeights {
  BartConfig config;
  std::shared_ptr<const EncoderWeights> encoder;
  std::vector<nn::GlobalProjections> global;  ///< of LED's encoder layers; none for BART
  at::Tensor token_embeddings;                ///< [vocabulary, hidden]; the encoder's where shared
  at::Tensor positions;                       ///< [decoder_position_rows, hidden]
  nn::LayerNorm norm;                         ///< of the embeddings, as the encoder's
  nn::LayerNorm last_norm;                    ///< likewise
  std::vector<DecoderLayer> layers;
  nn::Linear head;  ///< [vocabulary, hidden], often the encoder's `words`; bias: final_logits_bias
};

/// Reads a folder, float32 on the CPU. Errors: those of read_bart_config and load_encoder_weights;
/// `data` also when a head that the configuration calls tied differs from the embedding.
Result<std::shared_ptr<const BartWeights>> load_bart_weights(
    const checkpoints::ModelDirectory& directory);

/// The same weights on a device in an element type. `out_of_memory`.
Result<std::shared_ptr<const BartWeights>> copy_to_device(const BartWeights& weights,
                                                          at::Device device, at::ScalarType type);

}  // namespace qfs::architectures

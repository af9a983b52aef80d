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

namespace qfs::backbones {

struct DecoderLayer {
  Linear self_qkv;  ///< queries, keys, values below one another: [3 hidden, hidden]
  Linear self_output;
  LayerNorm self_norm;
  Linear cross_query;
  Linear cross_key_value;  ///< [2 hidden, hidden], applied to the encoder's states
  Linear cross_output;
  LayerNorm cross_norm;
  Linear up;
  Linear down;
  LayerNorm output_norm;
};

struct BartWeights {
  BartConfig config;
  std::shared_ptr<const EncoderWeights> encoder;
  std::vector<GlobalProjections> global;  ///< of LED's encoder layers; none for BART
  at::Tensor words;                       ///< [vocabulary, hidden]; the encoder's where shared
  at::Tensor positions;                   ///< [decoder_position_rows, hidden]
  LayerNorm norm;                         ///< of the embeddings, as the encoder's
  LayerNorm last_norm;                    ///< likewise
  std::vector<DecoderLayer> layers;
  Linear head;  ///< [vocabulary, hidden], often the encoder's `words`; bias: final_logits_bias
};

/// Reads a folder, float32 on the CPU. Errors: those of read_bart_config and load_encoder_weights;
/// `data` also when a head that the configuration calls tied differs from the embedding.
Result<std::shared_ptr<const BartWeights>> load_bart_weights(
    const checkpoints::ModelDirectory& directory);

/// The same weights on a device in an element type. `out_of_memory`.
Result<std::shared_ptr<const BartWeights>> copy_to_device(const BartWeights& weights,
                                                          at::Device device, at::ScalarType type);

}  // namespace qfs::backbones

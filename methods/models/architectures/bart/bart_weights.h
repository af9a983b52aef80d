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
#include "methods/models/nn/weights.h"
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
  nn::Linear head;  ///< [vocabulary, hidden], often the embeddings; bias: final_logits_bias
};

/// Reads a folder, float32 on the CPU. Errors: those of read_bart_config and load_encoder_weights;
/// `data` also when a head that the configuration calls tied differs from the embedding.
Result<std::shared_ptr<const BartWeights>> load_bart_weights(
    const checkpoints::ModelDirectory& directory);

/// The list of all weights, the encoder's first.
void visit_weights(BartWeights& weights, nn::WeightVisitor& visitor);

/// A BART as a LED: the conversion with which the published LED checkpoints began, without the
/// training that followed. `window`: positions on both sides together, even; `positions`: of the
/// encoder. All but the position table, which is repeated until it is long enough, shares the
/// memory of `bart`, whose type must be bart without windows; the projections of global attention
/// are the others. LibTorch's exceptions pass through. Sources: Beltagy et al. 2020, section 7;
/// AllenAI's conversion script.
std::shared_ptr<const BartWeights> led_from_bart(const BartWeights& bart, int64_t window,
                                                 int64_t positions);

}  // namespace qfs::architectures

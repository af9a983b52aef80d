// The shape of an encoder-decoder of the BART family: BART; with windowed attention in the encoder
// LED and PRIMERA; with norms in front mBART and PEGASUS.
//
// Read from config.json and generation_config.json by the loader. Plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/architectures/bert/encoder_config.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/windows.h"

namespace qfs::architectures {

struct BartConfig {
  EncoderConfig encoder;            ///< width, norms, scale and activation are the decoder's too
  std::vector<nn::Window> windows;  ///< one a layer of the encoder; none: full attention
  int64_t decoder_layers = 0;
  int64_t decoder_heads = 0;
  int64_t decoder_intermediate = 0;
  int64_t decoder_position_rows = 0;
  int64_t decoder_first_position = 0;  ///< row of the decoder's first token
  std::vector<int32_t> decoder_start;
  bool tied = true;  ///< the head is the embedding

  int64_t decoder_head_dim() const { return encoder.hidden / decoder_heads; }
  /// Keys and values of one position: of the decoder, or of the source.
  int64_t cache_elements() const { return 2 * decoder_layers * encoder.hidden; }
  int64_t decoder_positions() const { return decoder_position_rows - decoder_first_position; }
};

/// Model types of the architecture "bart"; a bart with `attention_window` is an LED as AllenAI's
/// code saves it. Errors as read_encoder_config.
Result<BartConfig> read_bart_config(const checkpoints::ModelDirectory& directory);

}  // namespace qfs::architectures

// The shape of a text encoder: BERT, RoBERTa, DistilBERT, and the encoders of BART, LED, mBART and
// PEGASUS.
//
// Read from config.json by the loader. Plain data.
#pragma once

#include <cstdint>
#include <string>

#include "harness/api/result.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/dense.h"
#include "methods/models/nn/dropout_rates.h"

namespace qfs::architectures {

struct EncoderConfig {
  std::string model_type;
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t intermediate = 0;
  int64_t heads = 0;
  int64_t vocabulary = 0;
  int64_t position_rows = 0;   ///< of the position table
  int64_t first_position = 0;  ///< row of a text's first token
  int64_t segments = 0;        ///< rows of the segment table; 0: there is none
  int32_t padding_id = 0;
  bool padding_has_no_position = false;  ///< RoBERTa: such ids do not count, wherever they stand
  double embedding_scale = 1;
  double norm_eps = 1e-12;
  /// Normalizes what a block reads, and the last states, instead of what it adds to.
  bool pre_norm = false;
  bool embedding_norm = true;
  bool sinusoidal = false;  ///< a checkpoint without a position table has the sinusoidal one
  nn::Activation activation = nn::Activation::gelu;
  nn::DropoutRates dropout = {};  ///< that it was trained with

  int64_t head_dim() const { return hidden / heads; }
  /// Longest text, special tokens included.
  int64_t max_tokens() const { return position_rows - first_position; }
};

/// `unavailable`: another model type, activation, or kind of position. `data`: a key is missing or
/// impossible.
Result<EncoderConfig> read_encoder_config(const checkpoints::ModelDirectory& directory);

}  // namespace qfs::architectures

// The shape of a GPT-2, as read and checked from config.json.
//
// Used by the weight loader and the forward pass. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "harness/api/result.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/dense.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::architectures {

inline constexpr std::array<std::string_view, 1> kGpt2ModelTypes = {"gpt2"};

struct Gpt2Config {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t intermediate = 0;
  int64_t heads = 0;
  int64_t vocabulary = 0;
  int64_t context = 0;  ///< rows of the position table
  double norm_eps = 0;
  nn::Activation activation = nn::Activation::gelu_tanh;
  bool tied = true;  ///< the head is the embedding

  int64_t head_dim() const { return hidden / heads; }
  /// Keys and values that a position of a row leaves in the cache.
  int64_t cache_elements() const { return 2 * layers * hidden; }
};

/// `data`: a key is missing or impossible. `unavailable`: cross-attention, another scale of scores
/// than 1 / sqrt(head_dim), reordered attention, an activation that is not computed.
Result<Gpt2Config> read_gpt2_config(const checkpoints::ModelDirectory& directory);

nn::SequenceShape shape_of(const Gpt2Config& config);

}  // namespace qfs::architectures

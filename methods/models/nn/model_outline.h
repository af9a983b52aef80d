// ModelOutline: what the configuration of a checkpoint says of a model, without its weights.
//
// Made by the rows of architectures.h; used by the model report. Plain data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "methods/models/nn/sequence_model.h"

namespace qfs::nn {

/// Tensors with this text in their names belong to this part of a model: embedding, attention,
/// feed_forward, norm or head.
struct PartWord {
  std::string_view text;
  std::string_view part;
};

struct ModelOutline {
  SequenceShape shape;
  /// Keys and values that a position of a row leaves in the cache; of an encoder-decoder, a
  /// position of the source too.
  int64_t cache_elements = 0;
  /// Matrices stay in the storage type of their file where the kernels read it.
  bool keeps_packed = false;
  /// For names by which the report's own words tell no part, or a wrong one; these go first.
  std::span<const PartWord> words = {};
};

}  // namespace qfs::nn

// RowMixer: several rows of a model that continue different inputs by the same tokens and stand for
// one output: a mixture over what was retrieved (RAG-token, Lewis et al. 2020; DYLE).
//
// Implemented by methods, called by the generator once a beam and step, before anything chooses
// tokens. Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>

#include "harness/api/result.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::decoding {

class RowMixer {
 public:
  virtual ~RowMixer() = default;
  /// The scores `mixed` [vocabulary] of the next token, logits or log-probabilities. `logits`
  /// [rows, vocabulary] follow the rows in the order of MixedInput::rows; `states` [rows, hidden],
  /// float32, is what the head multiplied to them.
  virtual Status mix(std::span<const float> logits, const at::Tensor& states,
                     std::span<float> mixed) = 0;
};

/// What one output is written from. Both outlive the call.
struct MixedInput {
  std::span<const nn::SequenceInput> rows;
  RowMixer* mixer = nullptr;  ///< null: there is one row
  /// At most so many in place of DecodingOptions::max_new_tokens.
  std::optional<int64_t> new_tokens = {};
};

}  // namespace qfs::decoding

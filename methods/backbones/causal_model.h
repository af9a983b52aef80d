// CausalModel: a decoder-only language model with a key-value cache, on whatever device it runs.
//
// Called by generation. Owns its cache and serves one caller at a time; weights are shared.
// LibTorch's exceptions come out as Errors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "harness/api/result.h"
#include "methods/backbones/llama_config.h"

namespace qfs::backbones {

class CausalModel {
 public:
  virtual ~CausalModel() = default;
  virtual const LlamaConfig& config() const = 0;

  /// Empties the cache, and enlarges it to `rows` rows of `capacity` positions where it is smaller.
  /// `invalid_argument` when capacity exceeds the model's context, `out_of_memory`.
  virtual Status begin(int64_t rows, int64_t capacity) = 0;

  /// Reads a prompt into an empty row; `logits` [vocabulary] receives those that follow the last
  /// token. `invalid_argument`: no tokens, too many, an unknown id, or a row in use.
  virtual Status prefill(int64_t row, std::span<const int32_t> tokens, std::span<float> logits) = 0;

  /// One step for `rows` (distinct, not empty) with one token each; `logits` [rows, vocabulary].
  virtual Status decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                        std::span<float> logits) = 0;
};

}  // namespace qfs::backbones

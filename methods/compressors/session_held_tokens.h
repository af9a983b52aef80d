// Tokens through a decoder behind others, whose keys and values stay as they were made, even where
// some of them are forgotten.
//
// Used by LLMLingua's small model (session_lingua.h). Thread-compatible. LibTorch's exceptions pass
// through.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "methods/models/nn/decoder.h"
#include "methods/models/nn/rope.h"

namespace qfs::compressors {

class HeldTokens final : public nn::LayerOperations {
 public:
  /// `decoder`: decoder-only; outlives this.
  explicit HeldTokens(const nn::Decoder& decoder)
      : decoder_(decoder), layers_(static_cast<size_t>(decoder.shape().layers)) {}

  int64_t held() const { return held_; }

  /// What the head multiplies behind each of `ids`, at the positions behind as many as are held:
  /// [tokens, hidden]. All are held then.
  at::Tensor read(std::span<const int32_t> ids);
  /// `count` of what is held, from `first` on, go.
  void forget(int64_t first, int64_t count);

  at::Tensor multiply(const nn::Linear& linear, const at::Tensor& x) override;
  at::Tensor attend_past(size_t layer, const nn::Linear& qkv, const at::Tensor& x) override;

 private:
  /// [held, kv_heads, head_dim] each.
  struct Layer {
    at::Tensor keys;
    at::Tensor values;
  };

  const nn::Decoder& decoder_;
  std::vector<Layer> layers_;
  nn::Rotations rotations_;  ///< of the tokens that are being read
  int64_t held_ = 0;
};

}  // namespace qfs::compressors

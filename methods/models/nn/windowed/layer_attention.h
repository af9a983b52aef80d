// LayerAttention: what an encoder's layer computes in place of full self-attention.
//
// Implemented by windowed_attention.h; called by the encoder, which guards against LibTorch's
// exceptions.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace qfs::nn {

/// For texts that are encoded alone.
class LayerAttention {
 public:
  virtual ~LayerAttention() = default;
  /// `states` [1, length, hidden]: the layer's input; `qkv` [3, 1, heads, length, head_dim]: its
  /// projections. Returns [1, heads, length, head_dim].
  virtual at::Tensor attend(int64_t layer, const at::Tensor& states,
                            const at::Tensor& qkv) const = 0;
  /// Of its own weights those that gradients reach.
  virtual std::vector<at::Tensor> trained() const { return {}; }
};

}  // namespace qfs::nn

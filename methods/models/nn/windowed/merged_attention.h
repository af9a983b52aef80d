// MergedAttention: LED's self-attention of one text as windowed_attention.h defines it, for windows
// that are bands, in parts: a window pass, and the global tokens that are farther away, joined by
// their log-sum-exp.
//
// Made for a text and used by every layer of its encoding. LibTorch's exceptions pass through
// (callers guard). Forward only with flash_window_pass. No score of the windows is stored, and no
// mask; those of the global tokens are, for some rows at a time. Exact, because a token that is not
// global attends to near and far ones by the same projections.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "methods/models/nn/windowed/global_projections.h"
#include "methods/models/nn/windowed/layer_attention.h"
#include "methods/models/nn/windowed/window_pass.h"
#include "methods/models/nn/windows.h"

namespace qfs::backbones {

class MergedAttention final : public LayerAttention {
 public:
  /// `windows`, bands, and `projections`: one a layer; they outlive this. `global`: increasing
  /// positions of the text.
  MergedAttention(std::span<const Window> windows, std::span<const GlobalProjections> projections,
                  const std::vector<int64_t>& global, at::Device device, WindowPass window_pass);

  at::Tensor attend(int64_t layer, const at::Tensor& states, const at::Tensor& qkv) const override;

 private:
  /// Attention of every token to the global tokens that its window does not reach.
  AttentionPart attend_to_far(const at::Tensor& qkv, int64_t reach) const;

  std::span<const Window> windows_;
  std::span<const GlobalProjections> projections_;
  WindowPass window_pass_;
  at::Tensor global_;  ///< int64 [global] on the device
};

}  // namespace qfs::backbones

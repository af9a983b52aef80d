// WindowedAttention: LED's self-attention of one text: a window around each token, and global
// tokens that see all and are seen by all.
//
// Made for a text and used by every layer of its encoding. LibTorch's exceptions pass through
// (callers guard). Sources: Beltagy et al. 2020; transformers 5.23, modeling_led.py. A token that
// is not global attends, in one softmax by the layer's usual projections, to its window and to the
// global tokens; a global token to everything by the second set. Scores are computed a block of
// queries at a time against the keys that its windows reach, so that memory and work grow linearly
// with the text; by ATen's masked attention, which is a fused kernel or, where it has none or where
// weights are dropped, two products and a softmax.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "methods/models/nn/adapters.h"
#include "methods/models/nn/dropout.h"
#include "methods/models/nn/windowed/global_projections.h"
#include "methods/models/nn/windowed/layer_attention.h"
#include "methods/models/nn/windows.h"

namespace qfs::nn {

class WindowedAttention final : public LayerAttention {
 public:
  /// `windows` and `projections`: one a layer; they outlive this. `global`: increasing positions of
  /// the text, which has `length` tokens. `adapters` of the projections, and `dropout`, or null.
  WindowedAttention(std::span<const Window> windows, std::span<const GlobalProjections> projections,
                    std::vector<int64_t> global, int64_t length, at::Device device,
                    std::shared_ptr<const Adapters> adapters = nullptr,
                    std::shared_ptr<const Dropout> dropout = nullptr);

  at::Tensor attend(int64_t layer, const at::Tensor& states, const at::Tensor& qkv) const override;
  std::vector<at::Tensor> trained() const override;

 private:
  /// Queries [begin, end) with the keys [first, last) that their windows reach.
  struct Block {
    int64_t begin = 0;
    int64_t end = 0;
    int64_t first = 0;
    int64_t last = 0;
    at::Tensor mask;  ///< [end - begin, last - first + global], true: attends
  };

  std::vector<Block> make_blocks(const Window& window) const;
  at::Tensor make_mask(const Window& window, const Block& block) const;
  const std::vector<Block>& blocks_of(const Window& window) const;
  /// Of every token as if it were not global.
  at::Tensor attend_to_windows(size_t layer, const at::Tensor& qkv) const;

  std::span<const Window> windows_;
  std::span<const GlobalProjections> projections_;
  std::vector<int64_t> global_;
  int64_t length_;
  at::Device device_;
  std::shared_ptr<const Adapters> adapters_;
  std::shared_ptr<const Dropout> dropout_;
  at::Tensor global_index_;                                    ///< int64 [global] on the device
  std::vector<std::pair<Window, std::vector<Block>>> blocks_;  ///< of each kind of window
};

}  // namespace qfs::nn

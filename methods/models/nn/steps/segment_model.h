// SegmentModel: a decoder whose rows attend to a window and to a compressive memory of what has
// left it (infini_memory.h), on any device: prompts in segments, then token by token. Beyond the
// window a row's state takes the same memory however long it becomes.
//
// Opened by methods with a memory; contracts of SequenceModel, but that no prefix is shared. On a
// CPU in float32 a row has the same bits in any batch; elsewhere products are LibTorch's.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "methods/models/kernels/thread_pool.h"
#include "methods/models/nn/decoder_model.h"
#include "methods/models/nn/infini_memory.h"
#include "methods/models/nn/rope.h"
#include "methods/models/nn/segment_attention.h"
#include "methods/models/nn/steps/key_value_cache.h"
#include "methods/models/nn/steps/row_attention.h"
#include "methods/models/nn/steps/row_products.h"

namespace qfs::nn {

class SegmentModel final : public DecoderModel {
 public:
  /// `memory`: of every row; bound to the decoder, which is no encoder-decoder.
  SegmentModel(std::shared_ptr<const Decoder> decoder, std::shared_ptr<const InfiniMemory> memory);

  Status begin(int64_t rows, int64_t capacity) override;
  /// Errors also as nn::sequence_states.
  Status prefill(int64_t row, const SequenceInput& input, std::span<float> logits) override;
  Status decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                std::span<float> logits) override;
  Result<at::Tensor> last_states() const override {
    return unavailable("rows with a memory do not show their states");
  }
  Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) override;

  /// Of windows and memories of all rows.
  int64_t state_bytes() const;

 private:
  class Step;

  int64_t window() const { return memory_->options.window(); }
  /// Where the window has a position: kept ones at their own, the others behind them in a ring.
  int64_t slot_of(int64_t position) const {
    const int64_t kept = memory_->options.kept;
    return position < kept ? position : kept + (position - kept) % memory_->options.segment;
  }
  /// Whether the window of a row is full, so that its next token moves one into the memory.
  bool remembers(int64_t row) const { return length(row) >= window(); }
  /// Moves the oldest token of a full window that is not kept into the memory. What `queries`
  /// [heads, dim] of the token that takes its place read then: [heads, dim].
  at::Tensor remember(size_t layer, int64_t row, const at::Tensor& queries);
  /// The same by the kernel of a CPU.
  at::Tensor remember_by_kernel(size_t layer, int64_t row, const at::Tensor& queries);
  /// Puts a token into the window; states [kv_heads, dim].
  void push(size_t layer, int64_t row, const at::Tensor& key, const at::Tensor& rotated,
            const at::Tensor& value);
  void store(int64_t row, const std::vector<SegmentState>& layers, int64_t positions);
  int64_t length(int64_t row) const { return window_.lengths[static_cast<size_t>(row)]; }
  /// Everything beside window_ that rows hold: [layers, rows, …].
  std::vector<at::Tensor> states() const;

  std::shared_ptr<const InfiniMemory> memory_;
  kernels::ThreadPool pool_;
  RowProducts products_;
  RowAttention attention_;
  std::optional<RotationTable> rotations_;
  int64_t capacity_ = 0;  ///< positions of a row
  KeyValueCache window_;  ///< position p of a row at slot_of(p); keys are rotated
  at::Tensor keys_;       ///< those of window_, not rotated
  at::Tensor all_;        ///< LayerMemory::all of rows, likewise the others
  at::Tensor norm_;
  at::Tensor asked_;
  at::Tensor asking_;                                      ///< SegmentState::asking
  std::vector<at::Tensor> shares_;                         ///< the memory's in each layer and head
  std::vector<float> scratch_;                             ///< of the kernel, for each head of keys
  std::vector<std::shared_ptr<const Adapters>> adapters_;  ///< of each row
};

}  // namespace qfs::nn

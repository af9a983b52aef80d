// SourceCache: the cross-attention keys and values of encoded inputs on a device. Rows of a decoder
// share what they go on from: beams that branch move no keys.
//
// Owned by a device model. Grows to the longest input and to as many as are held at once, rounded
// up, and stays so. Not thread-safe; LibTorch's exceptions pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "methods/models/nn/decoder.h"
#include "methods/models/nn/device/device_attention.h"

namespace qfs::nn {

class SourceCache {
 public:
  /// `before_move` is called before keys and values move to other memory.
  SourceCache(std::shared_ptr<const Decoder> decoder, std::function<void()> before_move)
      : decoder_(std::move(decoder)), before_move_(std::move(before_move)) {}

  /// Empties it; for so many rows from now on.
  void begin(size_t rows);
  /// What the encoder read of a row's input: [1, tokens, hidden]; `adapters` of the row, or null.
  void store(int64_t row, const at::Tensor& states, const Adapters* adapters);
  /// As SequenceModel::reassign.
  void reassign(std::span<const int64_t> rows, std::span<const int64_t> sources);

  /// Places of a layer's keys and values that DecodeAttention calls cache rows.
  LayerCache layer(size_t index) const;
  int64_t capacity() const { return keys_.size(3); }
  int64_t place(int64_t row) const { return places_[static_cast<size_t>(row)]; }
  /// Tokens of the row's input.
  int64_t length(int64_t row) const { return lengths_[static_cast<size_t>(place(row))]; }

 private:
  static constexpr int64_t kNone = -1;

  bool held(int64_t place) const;
  /// A place that no row but this one has, for so many tokens.
  int64_t make_room(int64_t row, int64_t tokens);
  void grow(int64_t places, int64_t capacity);

  std::shared_ptr<const Decoder> decoder_;
  std::function<void()> before_move_;
  at::Tensor keys_;  ///< [layers, places, heads, capacity, head_dim]
  at::Tensor values_;
  std::vector<int64_t> places_;   ///< of each row, or kNone
  std::vector<int64_t> lengths_;  ///< of each place
};

}  // namespace qfs::nn

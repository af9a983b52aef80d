// StepModel: a decoder on a CPU with the key-value cache of its rows: prompts, and steps of
// decoding in which a row has the same bits in any batch (float32).
//
// Opened by networks; contracts of SequenceModel. Uses as many threads as LibTorch is set to when
// it is made. The packed path of the LLaMA family (architectures/llama) and models on a device
// (device/device_model.h) have caches of their own.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "methods/models/kernels/thread_pool.h"
#include "methods/models/nn/decoder_model.h"
#include "methods/models/nn/rope.h"
#include "methods/models/nn/steps/key_value_cache.h"
#include "methods/models/nn/steps/retrieved_source.h"
#include "methods/models/nn/steps/row_attention.h"
#include "methods/models/nn/steps/row_products.h"

namespace qfs::nn {

class StepModel final : public DecoderModel {
 public:
  /// `read_source`: of an encoder-decoder that retrieves of its sources; without, it attends to
  /// all.
  explicit StepModel(std::shared_ptr<const Decoder> decoder, ReadSource read_source = {});

  Status begin(int64_t rows, int64_t capacity) override;
  Status prefill(int64_t row, const SequenceInput& input, std::span<float> logits) override;
  Status decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                std::span<float> logits) override;
  Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) override;

 private:
  class Step;
  class Prompt;
  /// What an encoder read, as each layer of the decoder attends to it.
  using Source = std::vector<KeyValues>;

  Status prefill_source(int64_t row, const SequenceInput& input, std::span<float> logits);
  /// Puts what a row attends to in its place.
  Status take_source(size_t row, const SequenceInput& input);
  /// One step for checked rows and tokens, which then hold a position more. Throws.
  void run(std::span<const int64_t> rows, std::span<const int32_t> tokens, std::span<float> logits);
  /// Those of tokens at these positions; nothing where positions are learned.
  Rotations rotations_at(const at::Tensor& positions) const;
  /// What a row of the cache holds of a layer, up to `positions`.
  KeyValues held(size_t layer, int64_t row, int64_t positions) const;

  kernels::ThreadPool pool_;
  RowProducts products_;
  RowAttention attention_;
  std::optional<RotationTable> rotations_;
  KeyValueCache cache_;
  std::vector<std::shared_ptr<const Adapters>> adapters_;  ///< of each row
  std::vector<std::shared_ptr<const Source>> sources_;     ///< of each row of an encoder-decoder
  ReadSource read_source_;
  std::vector<std::shared_ptr<const RetrievedSource>> retrieved_;  ///< likewise, with read_source_
};

}  // namespace qfs::nn

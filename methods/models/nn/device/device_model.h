// DeviceModel: a decoder on a device with the key-value cache of its rows, and steps of decoding
// whose inputs and logits lie in memory that stays where it is, so that a device can record them
// (step_graphs.h).
//
// Opened by networks; contracts of SequenceModel. Matrix products are LibTorch's, whose sums may
// depend on the number of rows, so outputs may depend on the batch (numerics_id records it).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "methods/models/nn/decoder_model.h"
#include "methods/models/nn/device/device_attention.h"
#include "methods/models/nn/device/device_services.h"
#include "methods/models/nn/device/source_cache.h"
#include "methods/models/nn/device/step_graphs.h"
#include "methods/models/nn/rope.h"
#include "methods/models/nn/steps/key_value_cache.h"

namespace qfs::nn {

class DeviceModel final : public DecoderModel {
 public:
  /// `decoder`: its weights lie on the device of `services`.
  DeviceModel(std::shared_ptr<const Decoder> decoder, const DeviceServices& services);

  Status begin(int64_t rows, int64_t capacity) override;
  Status prefill(int64_t row, const SequenceInput& input, std::span<float> logits) override;
  Status decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                std::span<float> logits) override;
  Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) override;

 private:
  class Operations;
  class Step;
  class Prompt;

  /// Where a step finds its inputs and leaves its states and logits.
  struct StepMemory {
    /// int32 [lists, rows]: tokens, cache rows, positions; of an encoder-decoder also the places of
    /// the sources and their last positions.
    at::Tensor inputs;
    at::Tensor states;  ///< [rows, hidden], what the head multiplies
    at::Tensor logits;  ///< [rows, vocabulary]
  };

  Status prefill_source(int64_t row, const SequenceInput& input, std::span<float> logits);
  /// One step for checked rows and tokens; the rows then hold a position more. Throws.
  const StepMemory& run(std::span<const int64_t> rows, std::span<const int32_t> tokens);
  /// A step as it is recorded: without `rows`, whose adapters are added, its launches depend on the
  /// shape alone.
  void compute(std::span<const int64_t> rows, const StepMemory& memory, const StepShape& step);
  const Adapters* adapters_of(int64_t row) const {
    return adapters_[static_cast<size_t>(row)].get();
  }
  const StepMemory& memory_of(int64_t rows);
  LayerCache cache(size_t layer) const;
  Rotations rotations() const { return rotations_ ? rotations_->rotations() : Rotations(); }
  at::Device device() const { return decoder_->device(); }

  DeviceServices services_;
  DeviceAttention attention_;
  std::optional<RotationTable> rotations_;
  KeyValueCache cache_;
  std::vector<std::shared_ptr<const Adapters>> adapters_;  ///< of each row
  std::map<int64_t, StepMemory> memory_;                   ///< by rows
  StepGraphs graphs_;
  std::optional<SourceCache> sources_;  ///< of an encoder-decoder
};

}  // namespace qfs::nn

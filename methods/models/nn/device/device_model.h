// DeviceModel: what sequence models on a device have in common: the key-value cache of their rows,
// and steps of decoding whose inputs and logits lie in memory that stays where it is, so that a
// device can record them (step_graphs.h).
//
// Base of the models of the architectures; contracts of SequenceModel. Matrix products are
// LibTorch's, whose sums may depend on the number of rows, so outputs may depend on the batch
// (numerics_id records it).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "methods/models/nn/device/device_attention.h"
#include "methods/models/nn/device/device_services.h"
#include "methods/models/nn/device/step_graphs.h"
#include "methods/models/nn/sequence_model.h"
#include "methods/models/nn/steps/key_value_cache.h"

namespace qfs::nn {

/// Where a step finds its inputs and leaves its logits.
struct StepMemory {
  at::Tensor inputs;  ///< int32 [lists, rows]: tokens, cache rows, positions, then the model's own
  at::Tensor logits;  ///< [rows, vocabulary]
};

class DeviceModel : public SequenceModel {
 public:
  const SequenceShape& shape() const final { return shape_; }
  Status begin(int64_t rows, int64_t capacity) override;
  Status decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                std::span<float> logits) final;
  Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) override;

 protected:
  /// `weight`: one of the weights, whose device and element type the cache has. `lists`: of
  /// StepMemory::inputs.
  DeviceModel(SequenceShape shape, const CacheShape& cache, const at::Tensor& weight,
              const DeviceServices& services, int64_t lists);

  /// A step as it is recorded: reads memory.inputs, writes memory.logits. Its launches depend on
  /// the shape alone.
  virtual void compute(const StepMemory& memory, const StepShape& step) = 0;
  /// Appends the model's own lists and completes the shape.
  virtual void add_inputs(std::span<const int64_t> rows, std::vector<int32_t>& inputs,
                          StepShape& step) const;

  /// One step for checked rows and tokens; the rows then hold a position more. Throws.
  const StepMemory& run(std::span<const int64_t> rows, std::span<const int32_t> tokens);
  /// To the host, as float32.
  static void copy_logits(const at::Tensor& scores, std::span<float> logits);
  /// Lists of equal lengths, one after the other, as int32 [lists, length] on the host.
  static at::Tensor packed(const std::vector<int32_t>& lists, int64_t length);
  /// Memory that steps use is about to move.
  void forget_records() { graphs_.clear(); }

  const DeviceAttention& attention() const { return attention_; }
  at::Device device() const { return options_.device(); }
  LayerCache cache(size_t layer) const;

  KeyValueCache cache_;

 private:
  const StepMemory& memory_of(int64_t rows);

  SequenceShape shape_;
  DeviceServices services_;
  CacheShape cache_shape_;
  at::TensorOptions options_;  ///< of the weights
  DeviceAttention attention_;
  int64_t lists_;
  std::map<int64_t, StepMemory> memory_;  ///< by rows
  StepGraphs graphs_;
};

}  // namespace qfs::nn

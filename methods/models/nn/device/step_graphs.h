// Steps of decoding that a device records once and then replays, so that a step costs one launch
// from the host instead of hundreds.
//
// Used by models on a device. A step reads its inputs from memory that stays where it is and writes
// its outputs likewise; a record does again what the step did, with what is there by then.
// Replaying computes the same kernels with the same arguments as running the step, so it changes no
// bits. Not thread-safe.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>

#include "methods/models/kernels/device_plugin.h"

namespace qfs::nn {

/// What the arguments of a step's kernels depend on, besides memory: a record a shape.
struct StepShape {
  int64_t rows = 0;
  int64_t parts = 0;         ///< of the longest row, DecodeAttention::parts
  int64_t source_parts = 0;  ///< of the longest source; decoder-only models have none
  friend auto operator<=>(const StepShape&, const StepShape&) = default;
};

/// The number of parts that a step of so many positions is recorded with: a power of two, and no
/// more than `capacity` positions have. Parts that no row reaches cost a block that ends at once.
int64_t recorded_parts(int64_t positions, int64_t capacity);

class StepGraphs {
 public:
  /// Steps of a shape that run as they are before one is recorded: short outputs are not worth it.
  static constexpr int64_t kStepsBefore = 2;

  /// Without `graphs` every step runs as it is.
  StepGraphs(const kernels::DeviceGraphs* graphs, int device) : graphs_(graphs), device_(device) {}
  ~StepGraphs() { clear(); }
  StepGraphs(const StepGraphs&) = delete;
  StepGraphs& operator=(const StepGraphs&) = delete;

  /// Runs `step` or replays its record. Throws what the step and the device throw.
  void run(const StepShape& shape, const std::function<void()>& step);

  /// Forgets all records: the memory that steps use is about to move.
  void clear();

 private:
  struct Entry {
    int64_t runs = 0;
    void* record = nullptr;
  };

  const kernels::DeviceGraphs* graphs_;
  int device_;
  std::map<StepShape, Entry> entries_;
};

}  // namespace qfs::nn

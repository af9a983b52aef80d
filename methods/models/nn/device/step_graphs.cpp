#include "methods/models/nn/device/step_graphs.h"

#include <algorithm>
#include <bit>

#include "methods/models/nn/device/device_attention.h"

namespace qfs::nn {

int64_t recorded_parts(int64_t positions, int64_t capacity) {
  const auto rounded = std::bit_ceil(static_cast<uint64_t>(parts_of(positions)));
  return std::min(static_cast<int64_t>(rounded), parts_of(capacity));
}

void StepGraphs::run(const StepShape& shape, const std::function<void()>& step) {
  if (graphs_ == nullptr) return step();
  Entry& entry = entries_[shape];
  if (entry.runs < kStepsBefore) {
    ++entry.runs;
    return step();
  }
  if (entry.record == nullptr) entry.record = graphs_->record(device_, step);
  graphs_->replay(entry.record);
}

void StepGraphs::clear() {
  for (const auto& [shape, entry] : entries_) {
    if (entry.record != nullptr) graphs_->forget(entry.record);
  }
  entries_.clear();
}

}  // namespace qfs::nn

// How kernels of many rows are cut into tasks for threads, and the room that these have.
//
// Used by packed_attention and segment_memory. Thread-safe; throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace qfs::kernels {

/// Calls `body(index)` for each of [0, count), in any order and on any threads, and waits for all.
using ForItems = std::function<void(int64_t count, const std::function<void(int64_t)>& body)>;

/// The same of bodies that may run out of memory.
void for_tasks(const ForItems& for_items, int64_t count, const std::function<void(int64_t)>& body);

using Floats = std::unique_ptr<float[]>;

/// Not initialized.
Floats floats(int64_t count);

/// Room that a thread keeps from task to task; a task has one at a time.
class Scratch {
 public:
  explicit Scratch(int64_t count);
  float* take(int64_t count) {
    float* const taken = next_;
    next_ += count;
    return taken;
  }

 private:
  float* next_;
};

}  // namespace qfs::kernels

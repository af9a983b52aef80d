#include "methods/models/kernels/tasks.h"

#include <atomic>
#include <new>
#include <vector>

namespace qfs::kernels {

void for_tasks(const ForItems& for_items, int64_t count, const std::function<void(int64_t)>& body) {
  std::atomic<bool> exhausted = false;
  for_items(count, [&](int64_t task) {
    try {
      body(task);
    } catch (const std::bad_alloc&) {
      exhausted = true;
    }
  });
  if (exhausted) throw std::bad_alloc();
}

Floats floats(int64_t count) {
  return std::make_unique_for_overwrite<float[]>(static_cast<size_t>(count));
}

Scratch::Scratch(int64_t count) {
  thread_local std::vector<float> kept;
  if (kept.size() < static_cast<size_t>(count)) kept.resize(static_cast<size_t>(count));
  next_ = kept.data();
}

}  // namespace qfs::kernels

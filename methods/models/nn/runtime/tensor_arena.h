// Memory of large tensors on the CPU, one piece of address space from which the lowest fitting
// place is taken: a step that frees in reverse what it took leaves one gap, and the next step finds
// its memory mapped. (The C library keeps small objects between large ones, which grew training by
// a third, or maps and unmaps each, which took it a fifth of its time.)
//
// Used by configure_torch, for the whole process. Thread-safe. What finds no place is left to
// LibTorch's own allocator, which throws when memory is short.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace qfs::nn {

class TensorArena {
 public:
  /// Reserves address space, no memory; none where the system refuses.
  explicit TensorArena(size_t reserved_bytes);
  ~TensorArena();
  TensorArena(const TensorArena&) = delete;
  TensorArena& operator=(const TensorArena&) = delete;

  /// A place for `bytes`, aligned to a page, its contents undefined; nullptr when there is none.
  void* take(size_t bytes);
  /// Of a place that `take` returned.
  void give(void* place);
  bool owns(const void* place) const;

  /// Gives the memory of all free places back to the system.
  void release_idle();

  size_t taken_bytes() const;
  /// Behind the last byte that was ever taken since memory was last given back.
  size_t high_water_bytes() const;

 private:
  std::byte* base_ = nullptr;
  size_t reserved_ = 0;
  mutable std::mutex turns_;
  std::map<size_t, size_t> free_;   ///< offset -> bytes; no two touch
  std::map<size_t, size_t> taken_;  ///< likewise; may touch
  size_t high_water_ = 0;
};

/// Puts large tensors of LibTorch's CPU allocator into an arena from now on, and gives back what
/// idles there. Idempotent.
void use_tensor_arena();

}  // namespace qfs::nn

// The threads of a CUDA grid on one thread of this machine, so that tests run the code of our
// kernels, index by index, where there is no GPU.
//
// Blocks come one after the other. The threads of a block take turns between the points where they
// wait for one another (__syncthreads, __shfl_xor_sync); the order of turns changes every time, so
// that a result which hangs on it, because a barrier is missing, changes too. Not emulated: speed,
// memory that two blocks write, the rounding of the device's own functions (expf).
//
// Called through cuda_runtime.h of this folder, which stands for the toolkit's. Not thread-safe:
// one grid at a time.
#pragma once

#include <cstddef>
#include <functional>

namespace qfs::test::emulated_cuda {

struct Index3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
  constexpr Index3(unsigned x_count = 1, unsigned y_count = 1, unsigned z_count = 1)
      : x(x_count), y(y_count), z(z_count) {}
};

/// Where the running thread is; the names that device code has for them are in cuda_runtime.h.
struct Place {
  Index3 thread;
  Index3 block;
  Index3 block_size;
  Index3 grid_size;
};
Place& place();

/// Dynamic shared memory: one array, as all blocks of a device have the same addresses.
struct SharedMemory {
  std::byte* bytes = nullptr;
  size_t size = 0;
};

/// That of the kernels; defined beside them.
SharedMemory shared_memory();

/// Runs `body` as every thread of every block. Before each block all shared memory is filled with
/// ones (as floats: not a number). Throws std::logic_error when threads wait for one another at
/// different points or when memory beyond `shared_bytes` was written, and what `body` throws.
void run_grid(const Index3& blocks, unsigned threads, size_t shared_bytes, SharedMemory shared,
              const std::function<void()>& body);

/// Called by a running thread: waits for all threads of its block that have not ended.
void wait_for_block();
/// Called by a running thread: waits for the 32 threads of its warp, and gives the value of the one
/// whose number differs from its own by `mask`.
float exchange_in_warp(float value, int mask);

}  // namespace qfs::test::emulated_cuda

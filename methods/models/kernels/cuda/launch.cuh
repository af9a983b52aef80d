// Starting a kernel, and the shared memory that its blocks were started with.
//
// Called by the functions of kernels.h. Nothing here needs nvcc's own syntax, so that tests compile
// kernels for a CPU as well. Thread-safe as the runtime is; failures are left for cudaGetLastError.
#pragma once

#include <cuda_runtime.h>

namespace qfs::kernels::cuda {

struct Grid {
  dim3 blocks;
  int threads = 0;          ///< of a block
  size_t shared_bytes = 0;  ///< of a block, beside what the kernel declares
};

template <class Task>
void launch(const Grid& grid, void* stream, void (*kernel)(Task), const Task& task) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid.blocks;
  config.blockDim = dim3(static_cast<unsigned>(grid.threads));
  config.dynamicSmemBytes = grid.shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream);
  static_cast<void>(cudaLaunchKernelEx(&config, kernel, task));
}

/// Grid::shared_bytes of memory.
__device__ inline float* launched_shared() {
  extern __shared__ float shared[];
  return shared;
}

}  // namespace qfs::kernels::cuda

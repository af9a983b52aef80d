// What our kernels use of CUDA's runtime and built-in names, on block_threads.h. It stands where
// the toolkit's header of this name stands when nvcc compiles them.
//
// Included by methods/models/kernels/cuda/*.cu. Not thread-safe; launches throw what run_grid
// throws.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/support/emulated_cuda/block_threads.h"

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define __shared__ thread_local  // one object for all threads of a block; `extern` may precede it

using dim3 = qfs::test::emulated_cuda::Index3;
using std::max;
using std::min;

inline const dim3& threadIdx = qfs::test::emulated_cuda::place().thread;
inline const dim3& blockIdx = qfs::test::emulated_cuda::place().block;
inline const dim3& blockDim = qfs::test::emulated_cuda::place().block_size;
inline const dim3& gridDim = qfs::test::emulated_cuda::place().grid_size;

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
using cudaStream_t = void*;

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
};

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               const Arguments&... arguments) {
  qfs::test::emulated_cuda::run_grid(config->gridDim, config->blockDim.x, config->dynamicSmemBytes,
                                     qfs::test::emulated_cuda::shared_memory(),
                                     [&] { kernel(arguments...); });
  return cudaSuccess;
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel*, cudaFuncAttribute, int bytes) {
  const auto limit = static_cast<int>(qfs::test::emulated_cuda::shared_memory().size);
  return bytes > limit ? cudaErrorInvalidValue : cudaSuccess;
}

inline void __syncthreads() { qfs::test::emulated_cuda::wait_for_block(); }
inline float __shfl_xor_sync(unsigned, float value, int mask) {
  return qfs::test::emulated_cuda::exchange_in_warp(value, mask);
}
inline void atomicAdd(unsigned long long* sum, unsigned long long value) { *sum += value; }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }

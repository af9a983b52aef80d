// Element types of the kernels: reading as float, writing rounded to nearest even, and the choice
// of a kernel's instance by ElementType.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "methods/models/kernels/device_kernels.h"

namespace qfs::kernels::cuda {

__device__ __forceinline__ float read(float value) { return value; }
__device__ __forceinline__ float read(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ __forceinline__ float read(__half value) { return __half2float(value); }

__device__ __forceinline__ void write(float* place, float value) { *place = value; }
__device__ __forceinline__ void write(__nv_bfloat16* place, float value) {
  *place = __float2bfloat16_rn(value);
}
__device__ __forceinline__ void write(__half* place, float value) {
  *place = __float2half_rn(value);
}

/// Calls `work` with a null pointer of the element type; the code of the last launch.
template <class Work>
int with_type(ElementType type, const Work& work) {
  switch (type) {
    case ElementType::f32:
      work(static_cast<float*>(nullptr));
      break;
    case ElementType::bf16:
      work(static_cast<__nv_bfloat16*>(nullptr));
      break;
    case ElementType::f16:
      work(static_cast<__half*>(nullptr));
      break;
  }
  return static_cast<int>(cudaGetLastError());
}

}  // namespace qfs::kernels::cuda

// bfloat16 under CUDA's names, by LibTorch's type; both round to nearest even.
//
// Included by methods/models/kernels/cuda/element.cuh where it is compiled for the CPU
// (cuda_runtime.h of this folder). Plain values; cannot fail.
#pragma once

#include <c10/util/BFloat16.h>

using __nv_bfloat16 = c10::BFloat16;

inline float __bfloat162float(__nv_bfloat16 value) { return value; }
inline __nv_bfloat16 __float2bfloat16_rn(float value) { return value; }

// float16 under CUDA's names, by LibTorch's type; both round to nearest even.
//
// Included by methods/models/kernels/cuda/element.cuh where it is compiled for the CPU
// (cuda_runtime.h of this folder). Plain values; cannot fail.
#pragma once

#include <c10/util/Half.h>

using __half = c10::Half;

inline float __half2float(__half value) { return value; }
inline __half __float2half_rn(float value) { return value; }

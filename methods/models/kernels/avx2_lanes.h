// The order in which eight lanes become one sum.
//
// Included by files compiled for AVX2 or more; in their anonymous namespaces, so that code for
// different instruction sets never mixes.
#pragma once

#include <immintrin.h>

namespace qfs::kernels {
namespace {

/// As the portable vector: lanes i and i + 4, then i and i + 2, then the last two.
inline float sum_of_lanes(__m256 lanes) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

}  // namespace
}  // namespace qfs::kernels

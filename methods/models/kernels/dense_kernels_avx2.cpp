// Compiled for AVX2 with FMA (x86-64-v3); reached only through dense_kernels() on machines that
// have both.
#include <immintrin.h>

#include "methods/models/kernels/dense_kernels_impl.h"

namespace qfs::kernels {
namespace {

struct Avx2 {
  static constexpr int kLanes = 8;
  static constexpr int kRows = 6;
  static Avx2 load(const float* in) { return {_mm256_loadu_ps(in)}; }
  static Avx2 broadcast(const float* in) { return {_mm256_broadcast_ss(in)}; }
  static Avx2 add(Avx2 a, Avx2 b) { return {_mm256_add_ps(a.v, b.v)}; }
  static Avx2 multiply_add(Avx2 a, Avx2 b, Avx2 c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
  void store(float* out) const { _mm256_storeu_ps(out, v); }
  __m256 v;
};

}  // namespace

const DenseKernels* avx2_dense_kernels() {
  static constexpr DenseKernels kKernels = make_dense_kernels<Avx2>("avx2");
  const bool here = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return here ? &kKernels : nullptr;
}

}  // namespace qfs::kernels

// Compiled for AVX-512 (x86-64-v4); reached only through dense_kernels() on machines that have it.
#include <immintrin.h>

#include "methods/models/kernels/dense_kernels_impl.h"

namespace qfs::kernels {
namespace {

struct Avx512 {
  static constexpr int kLanes = 16;
  static constexpr int kRows = 12;
  static Avx512 load(const float* in) { return {_mm512_loadu_ps(in)}; }
  static Avx512 broadcast(const float* in) { return {_mm512_set1_ps(*in)}; }
  static Avx512 add(Avx512 a, Avx512 b) { return {_mm512_add_ps(a.v, b.v)}; }
  static Avx512 multiply_add(Avx512 a, Avx512 b, Avx512 c) {
    return {_mm512_fmadd_ps(a.v, b.v, c.v)};
  }
  void store(float* out) const { _mm512_storeu_ps(out, v); }
  __m512 v;
};

}  // namespace

const DenseKernels* avx512_dense_kernels() {
  static constexpr DenseKernels kKernels = make_dense_kernels<Avx512>("avx512");
  const bool here =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0;
  return here ? &kKernels : nullptr;
}

}  // namespace qfs::kernels

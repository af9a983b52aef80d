// Compiled with AVX-512 F and DQ; reached only through cpu_kernels() on machines that have them.
//
// The kernels of AVX2, and one of its own: one input against float32 weights, where every load
// takes a whole cache line. Half lines ask the first level of caches twice for each line that the
// memory is late with, and come to four fifths of its rate.
#include <immintrin.h>

#include "methods/kernels/avx2_lanes.h"
#include "methods/kernels/cpu_kernels.h"
#include "methods/kernels/weight_stream.h"

namespace qfs::kernels {

namespace {

void put(const MatVec& task, int64_t row, __m256 lanes) {
  const float total = sum_of_lanes(lanes);
  task.y[row] = task.accumulate ? task.y[row] + total : total;
}

/// Eight values, and the same again.
__m512 twice(const float* eight) { return _mm512_broadcast_f32x8(_mm256_loadu_ps(eight)); }

/// Rows `row` and `row + 1`: their eight lanes of sums, in the order of the AVX2 kernel, lie side
/// by side.
void pair_of_rows(const MatVec& task, int64_t row) {
  const float* const first = reinterpret_cast<const float*>(task.weight) + row * task.inner;
  const float* const second = first + task.inner;
  __m512 sums = _mm512_setzero_ps();
  for (int64_t k = 0; k < task.inner; k += kLine) {
    ask_ahead(first + 2 * k);
    ask_ahead(first + 2 * k + kLine);
    const __m512 a = _mm512_loadu_ps(first + k);
    const __m512 b = _mm512_loadu_ps(second + k);
    const __m512 low = twice(task.x + k);
    const __m512 high = twice(task.x + k + 8);
    sums = _mm512_fmadd_ps(_mm512_shuffle_f32x4(a, b, 0x44), low, sums);
    sums = _mm512_fmadd_ps(_mm512_shuffle_f32x4(a, b, 0xEE), high, sums);
  }
  put(task, row, _mm512_castps512_ps256(sums));
  put(task, row + 1, _mm512_extractf32x8_ps(sums, 1));
}

void matvec(const MatVec& task, int64_t row_begin, int64_t row_end) {
  int64_t row = row_begin;
  if (task.type == checkpoints::TensorType::f32 && task.batch == 1 && task.inner % kLine == 0) {
    for (; row + 2 <= row_end; row += 2) pair_of_rows(task, row);
  }
  if (row < row_end) avx2_kernels().matvec(task, row, row_end);
}

}  // namespace

const CpuKernels& avx512_kernels() {
  static const CpuKernels kernels = [] {
    CpuKernels changed = avx2_kernels();
    changed.matvec = matvec;
    return changed;
  }();
  return kernels;
}

}  // namespace qfs::kernels

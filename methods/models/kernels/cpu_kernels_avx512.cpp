// Compiled with AVX-512 F and DQ; reached only through cpu_kernels() on machines that have them.
//
// The kernels of AVX2, but for one input against two rows of a weight at a time: the eight lanes of
// sums of both lie side by side, each in the order of the AVX2 kernel. Float32 weights are then
// read in whole cache lines (half lines ask the first level of caches twice for each line that the
// memory is late with, and come to four fifths of its rate), packed ones are expanded twice as many
// at a time.
#include <immintrin.h>

#include <cstring>

#include "methods/models/kernels/avx2_lanes.h"
#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/kernels/weight_stream.h"

namespace qfs::kernels {

namespace {

void put(const MatVec& task, int64_t row, __m256 lanes) {
  const float total = sum_of_lanes(lanes);
  task.y[row] = task.accumulate ? task.y[row] + total : total;
}

void put_pair(const MatVec& task, int64_t row, __m512 sums) {
  put(task, row, _mm512_castps512_ps256(sums));
  put(task, row + 1, _mm512_extractf32x8_ps(sums, 1));
}

/// Eight values, and the same again.
__m512 twice(const float* eight) { return _mm512_broadcast_f32x8(_mm256_loadu_ps(eight)); }

void pair_of_rows(const MatVec& task, int64_t row) {
  const float* const first = reinterpret_cast<const float*>(task.weight) + row * task.inner;
  const float* const second = first + task.inner;
  __m512 sums = _mm512_setzero_ps();
  for (int64_t k = 0; k < task.inner; k += kLine) {
    ask_ahead(first + 2 * k);
    ask_ahead(first + 2 * k + kLine);
    const __m512 a = _mm512_loadu_ps(first + k);
    const __m512 b = _mm512_loadu_ps(second + k);
    sums = _mm512_fmadd_ps(_mm512_shuffle_f32x4(a, b, 0x44), twice(task.x + k), sums);
    sums = _mm512_fmadd_ps(_mm512_shuffle_f32x4(a, b, 0xEE), twice(task.x + k + 8), sums);
  }
  put_pair(task, row, sums);
}

/// Sixteen values of a 16-bit type.
struct BFloat16 {
  static __m512 expand(__m256i bits) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }
};
struct Float16 {
  static __m512 expand(__m256i bits) { return _mm512_cvtph_ps(bits); }
};

constexpr int64_t kHalvesOfLine = 32;

template <class Half>
void half_pair(const MatVec& task, int64_t row) {
  const std::byte* const first = task.weight + row * task.row_bytes;
  const std::byte* const second = first + task.row_bytes;
  // Eights of both rows side by side: the first two of a line, and the last two.
  const __m512i front = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i back = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  __m512 sums = _mm512_setzero_ps();
  for (int64_t k = 0; k < task.inner; k += kHalvesOfLine) {
    const int64_t at = k * static_cast<int64_t>(sizeof(uint16_t));
    ask_ahead(first + 2 * at);
    ask_ahead(first + 2 * at + kLineBytes);
    const __m512i a = _mm512_loadu_si512(first + at);
    const __m512i b = _mm512_loadu_si512(second + at);
    const float* x = task.x + k;
    for (const __m512i& order : {front, back}) {
      const __m512i both = _mm512_permutex2var_epi64(a, order, b);
      sums = _mm512_fmadd_ps(Half::expand(_mm512_castsi512_si256(both)), twice(x), sums);
      sums = _mm512_fmadd_ps(Half::expand(_mm512_extracti64x4_epi64(both, 1)), twice(x + 8), sums);
      x += 16;
    }
  }
  put_pair(task, row, sums);
}

template <class Half>
int64_t half_pairs(const MatVec& task, int64_t row_begin, int64_t row_end) {
  if (task.inner % kHalvesOfLine != 0) return 0;
  int64_t row = row_begin;
  for (; row + 2 <= row_end; row += 2) half_pair<Half>(task, row);
  return row - row_begin;
}

constexpr int kBlock = 32;  // elements of a packed block

/// Up to four bytes of either block, as half-precision numbers: two of the first, two of the
/// second.
__m512 halves(const unsigned char* first, const unsigned char* second, size_t bytes) {
  int32_t a = 0;
  int32_t b = 0;
  std::memcpy(&a, first, bytes);
  std::memcpy(&b, second, bytes);
  return _mm512_castps128_ps512(_mm_cvtph_ps(_mm_insert_epi32(_mm_cvtsi32_si128(a), b, 1)));
}

/// Number `index` of halves() in the lanes of its block.
template <int kIndex>
__m512 spread(__m512 numbers) {
  constexpr int kFirst = kIndex;
  constexpr int kSecond = kIndex + 2;
  return _mm512_permutexvar_ps(
      _mm512_setr_epi32(kFirst, kFirst, kFirst, kFirst, kFirst, kFirst, kFirst, kFirst, kSecond,
                        kSecond, kSecond, kSecond, kSecond, kSecond, kSecond, kSecond),
      numbers);
}

/// Adds 32 products of an input (`x`: four times eight values, each twice) with a block of either
/// row. Product and sum of an expanded value are rounded one by one, as checkpoints::dequantize
/// does.
struct Q4Blocks {
  static constexpr int64_t kBytes = 20;
  static __m512 add_products(const unsigned char* first, const unsigned char* second,
                             const __m512* x, __m512 sums) {
    const __m512 numbers = halves(first, second, 4);
    const __m512 scale = spread<0>(numbers);
    const __m512 minimum = spread<1>(numbers);
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(first + 4));
    const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(second + 4));
    const __m128i low_bits = _mm_set1_epi8(15);
    const __m128i front = _mm_unpacklo_epi64(a, b);
    const __m128i back = _mm_unpackhi_epi64(a, b);
    const auto add = [&](__m128i eights, __m512 input) {
      const __m512 q = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_and_si128(eights, low_bits)));
      sums = _mm512_fmadd_ps(_mm512_add_ps(_mm512_mul_ps(q, scale), minimum), input, sums);
    };
    add(front, x[0]);
    add(back, x[1]);
    add(_mm_srli_epi16(front, 4), x[2]);
    add(_mm_srli_epi16(back, 4), x[3]);
    return sums;
  }
};

struct Q8Blocks {
  static constexpr int64_t kBytes = 34;
  static __m512 add_products(const unsigned char* first, const unsigned char* second,
                             const __m512* x, __m512 sums) {
    const __m512 scale = spread<0>(halves(first, second, 2));
    for (int i = 0; i < 4; ++i) {
      const auto eight = [&](const unsigned char* block) {
        return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(block + 2 + 8 * i));
      };
      const __m512 q =
          _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_unpacklo_epi64(eight(first), eight(second))));
      sums = _mm512_fmadd_ps(_mm512_mul_ps(q, scale), x[i], sums);
    }
    return sums;
  }
};

/// kPairs pairs of rows at a time, so that their sums overlap; the number of rows that were taken.
template <class Blocks, int kPairs>
int64_t packed_pairs(const MatVec& task, int64_t row_begin, int64_t row_end) {
  int64_t row = row_begin;
  for (; row + 2 * kPairs <= row_end; row += 2 * kPairs) {
    const auto* weight = reinterpret_cast<const unsigned char*>(task.weight) + row * task.row_bytes;
    __m512 sums[kPairs];
    for (__m512& sum : sums) sum = _mm512_setzero_ps();
    for (int64_t block = 0; block < task.inner / kBlock; ++block) {
      __m512 x[4];
      for (int i = 0; i < 4; ++i) x[i] = twice(task.x + block * kBlock + 8 * i);
      for (int p = 0; p < kPairs; ++p) {
        const auto* first = weight + 2 * p * task.row_bytes + block * Blocks::kBytes;
        sums[p] = Blocks::add_products(first, first + task.row_bytes, x, sums[p]);
      }
    }
    for (int p = 0; p < kPairs; ++p) put_pair(task, row + 2 * p, sums[p]);
  }
  return row - row_begin;
}

void matvec(const MatVec& task, int64_t row_begin, int64_t row_end) {
  constexpr int kPairs = 4;
  int64_t row = row_begin;
  if (task.batch == 1) {
    if (task.type == checkpoints::TensorType::q4_1) {
      row += packed_pairs<Q4Blocks, kPairs>(task, row, row_end);
    } else if (task.type == checkpoints::TensorType::q8_0) {
      row += packed_pairs<Q8Blocks, kPairs>(task, row, row_end);
    } else if (task.type == checkpoints::TensorType::bf16) {
      row += half_pairs<BFloat16>(task, row, row_end);
    } else if (task.type == checkpoints::TensorType::f16) {
      row += half_pairs<Float16>(task, row, row_end);
    } else if (task.type == checkpoints::TensorType::f32 && task.inner % kLine == 0) {
      for (; row + 2 <= row_end; row += 2) pair_of_rows(task, row);
    }
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

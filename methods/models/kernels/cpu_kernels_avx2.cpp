// Compiled with -mavx2 -mfma -mf16c; reached only through cpu_kernels() on machines that have all
// three.
#include <immintrin.h>

#include <bit>
#include <cstring>
#include <initializer_list>

#include "methods/models/kernels/avx2_lanes.h"
#include "methods/models/kernels/cpu_kernels_impl.h"

namespace qfs::kernels {

namespace {

constexpr int kBlock = 32;  // elements of a packed block

__m256 broadcast_half(const unsigned char* bytes) {
  return _mm256_set1_ps(_cvtsh_ss(static_cast<uint16_t>(bytes[0] | (bytes[1] << 8))));
}

// Product and sum are rounded one by one, as checkpoints::dequantize does.
void expand_q4_1(const unsigned char* block, int64_t blocks, float* out) {
  const __m128i low_bits = _mm_set1_epi8(15);
  for (int64_t b = 0; b < blocks; ++b, block += 20, out += kBlock) {
    const __m256 scale = broadcast_half(block);
    const __m256 minimum = broadcast_half(block + 2);
    const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 4));
    const __m128i low = _mm_and_si128(packed, low_bits);
    const __m128i high = _mm_and_si128(_mm_srli_epi16(packed, 4), low_bits);
    const auto put = [&](__m128i eight, float* to) {
      const __m256 q = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight));
      _mm256_storeu_ps(to, _mm256_add_ps(_mm256_mul_ps(q, scale), minimum));
    };
    put(low, out);
    put(_mm_srli_si128(low, 8), out + 8);
    put(high, out + 16);
    put(_mm_srli_si128(high, 8), out + 24);
  }
}

void expand_q8_0(const unsigned char* block, int64_t blocks, float* out) {
  for (int64_t b = 0; b < blocks; ++b, block += 34, out += kBlock) {
    const __m256 scale = broadcast_half(block);
    for (int i = 0; i < kBlock; i += 8) {
      const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(block + 2 + i));
      const __m256 q = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight));
      _mm256_storeu_ps(out + i, _mm256_mul_ps(q, scale));
    }
  }
}

// Adds 32 products of an input with a block's values, eight lanes at a time and in the order of the
// expanded weight, so that both ways give the same bits.
struct Q4Block {
  static constexpr int64_t kBytes = 20;
  static __m256 add_products(const unsigned char* block, const __m256* x, __m256 sum) {
    int32_t halves;  // scale, then minimum
    std::memcpy(&halves, block, sizeof halves);
    const __m128 both = _mm_cvtph_ps(_mm_cvtsi32_si128(halves));
    const __m256 scale = _mm256_broadcastss_ps(both);
    const __m256 minimum = _mm256_broadcastss_ps(_mm_movehdup_ps(both));
    const __m128i low_bits = _mm_set1_epi8(15);
    const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 4));
    const __m128i low = _mm_and_si128(packed, low_bits);
    const __m128i high = _mm_and_si128(_mm_srli_epi16(packed, 4), low_bits);
    const auto add = [&](__m128i eight, __m256 input) {
      const __m256 q = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight));
      sum = _mm256_fmadd_ps(_mm256_add_ps(_mm256_mul_ps(q, scale), minimum), input, sum);
    };
    add(low, x[0]);
    add(_mm_srli_si128(low, 8), x[1]);
    add(high, x[2]);
    add(_mm_srli_si128(high, 8), x[3]);
    return sum;
  }
};

struct Q8Block {
  static constexpr int64_t kBytes = 34;
  static __m256 add_products(const unsigned char* block, const __m256* x, __m256 sum) {
    const __m256 scale = broadcast_half(block);
    for (int i = 0; i < 4; ++i) {
      const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(block + 2 + 8 * i));
      const __m256 q = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight));
      sum = _mm256_fmadd_ps(_mm256_mul_ps(q, scale), x[i], sum);
    }
    return sum;
  }
};

/// Eight values of a 16-bit type, and one.
struct BFloat16 {
  static __m256 load(const uint16_t* from) {
    const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(eight), 16));
  }
  static float value(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
};
struct Float16 {
  static __m256 load(const uint16_t* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static float value(uint16_t bits) { return _cvtsh_ss(bits); }
};

template <class Half>
void expand_half(const void* packed, int64_t elements, float* out) {
  const auto* from = static_cast<const uint16_t*>(packed);
  int64_t i = 0;
  for (; i + 8 <= elements; i += 8) _mm256_storeu_ps(out + i, Half::load(from + i));
  for (; i < elements; ++i) out[i] = Half::value(from[i]);
}

/// kRows rows of a packed weight against one input, without expanding them in memory.
template <class Block, int kRows>
void packed_rows(const MatVec& task, int64_t row) {
  const auto* weight = reinterpret_cast<const unsigned char*>(task.weight) + row * task.row_bytes;
  __m256 sums[kRows];
  for (__m256& sum : sums) sum = _mm256_setzero_ps();
  for (int64_t b = 0; b < task.inner / kBlock; ++b) {
    __m256 x[4];
    for (int i = 0; i < 4; ++i) x[i] = _mm256_loadu_ps(task.x + b * kBlock + 8 * i);
    for (int r = 0; r < kRows; ++r) {
      sums[r] = Block::add_products(weight + r * task.row_bytes + b * Block::kBytes, x, sums[r]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    const float total = sum_of_lanes(sums[r]);
    float& y = task.y[row + r];
    y = task.accumulate ? y + total : total;
  }
}

template <class Block>
void packed_matvec(const MatVec& task, int64_t row_begin, int64_t row_end) {
  int64_t row = row_begin;
  for (; row + 4 <= row_end; row += 4) packed_rows<Block, 4>(task, row);
  for (; row < row_end; ++row) packed_rows<Block, 1>(task, row);
}

/// kRows rows of a 16-bit weight against one input, in the order of the expanded weight.
template <class Half, int kRows>
void half_rows(const MatVec& task, int64_t row) {
  const uint16_t* weight[kRows];
  __m256 sums[kRows];
  for (int r = 0; r < kRows; ++r) {
    weight[r] = reinterpret_cast<const uint16_t*>(task.weight + (row + r) * task.row_bytes);
    sums[r] = _mm256_setzero_ps();
  }
  int64_t k = 0;
  for (; k + 8 <= task.inner; k += 8) {
    const __m256 x = _mm256_loadu_ps(task.x + k);
    for (int r = 0; r < kRows; ++r) {
      sums[r] = _mm256_fmadd_ps(Half::load(weight[r] + k), x, sums[r]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    float total = sum_of_lanes(sums[r]);
    for (int64_t tail = k; tail < task.inner; ++tail) {
      total += Half::value(weight[r][tail]) * task.x[tail];
    }
    float& y = task.y[row + r];
    y = task.accumulate ? y + total : total;
  }
}

/// Rows of fewer bytes are read one after the other, as one stream; in longer ones the chain of
/// sums would be slower than the memory.
constexpr int64_t kShortRowBytes = 2048;

template <class Half>
void half_matvec(const MatVec& task, int64_t row_begin, int64_t row_end) {
  int64_t row = row_begin;
  const bool one_by_one = task.row_bytes < kShortRowBytes;
  for (; !one_by_one && row + 8 <= row_end; row += 8) half_rows<Half, 8>(task, row);
  for (; row < row_end; ++row) half_rows<Half, 1>(task, row);
}

struct Avx2Vector {
  __m256 lanes;

  static Avx2Vector zero() { return {_mm256_setzero_ps()}; }
  static Avx2Vector one() { return {_mm256_set1_ps(1.0f)}; }
  static Avx2Vector broadcast(float value) { return {_mm256_set1_ps(value)}; }
  static Avx2Vector load(const float* from) { return {_mm256_loadu_ps(from)}; }
  static Avx2Vector multiply_add(Avx2Vector a, Avx2Vector b, Avx2Vector c) {
    return {_mm256_fmadd_ps(a.lanes, b.lanes, c.lanes)};
  }

  static void expand(checkpoints::TensorType type, const void* packed, int64_t elements,
                     float* out) {
    const auto* blocks = static_cast<const unsigned char*>(packed);
    switch (type) {
      case checkpoints::TensorType::q4_1:
        return expand_q4_1(blocks, elements / kBlock, out);
      case checkpoints::TensorType::q8_0:
        return expand_q8_0(blocks, elements / kBlock, out);
      case checkpoints::TensorType::bf16:
        return expand_half<BFloat16>(packed, elements, out);
      case checkpoints::TensorType::f16:
        return expand_half<Float16>(packed, elements, out);
      default:
        return checkpoints::dequantize(type, packed, elements, out);
    }
  }

  /// One input and a packed weight; false for a type without a kernel.
  static bool matvec_packed(const MatVec& task, int64_t row_begin, int64_t row_end) {
    if (task.type == checkpoints::TensorType::q4_1) {
      packed_matvec<Q4Block>(task, row_begin, row_end);
    } else if (task.type == checkpoints::TensorType::q8_0) {
      packed_matvec<Q8Block>(task, row_begin, row_end);
    } else if (task.type == checkpoints::TensorType::bf16) {
      half_matvec<BFloat16>(task, row_begin, row_end);
    } else if (task.type == checkpoints::TensorType::f16) {
      half_matvec<Float16>(task, row_begin, row_end);
    } else {
      return false;
    }
    return true;
  }

  /// exp with a relative error below 2e-7: x = n ln 2 + r with |r| <= ln(2)/2, a polynomial of
  /// degree 6 in r (Taylor), and n added to the exponent. Arguments are held inside the normal
  /// range.
  static Avx2Vector exp(Avx2Vector x) {
    const __m256 held =
        _mm256_min_ps(_mm256_max_ps(x.lanes, _mm256_set1_ps(-87.3f)), _mm256_set1_ps(88.3f));
    const __m256 n = _mm256_round_ps(_mm256_mul_ps(held, _mm256_set1_ps(1.44269504f)),
                                     _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    // ln 2 in two parts, the first exact in float32 for every n here.
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), held);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(1.0f / 5040);
    for (const float coefficient :
         {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f}) {
      p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(coefficient));
    }
    const __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
    return {_mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), exponent))};
  }

  void store(float* to) const { _mm256_storeu_ps(to, lanes); }

  float sum() const { return sum_of_lanes(lanes); }

  Avx2Vector operator+(Avx2Vector other) const { return {_mm256_add_ps(lanes, other.lanes)}; }
  Avx2Vector operator-(Avx2Vector other) const { return {_mm256_sub_ps(lanes, other.lanes)}; }
  Avx2Vector operator*(Avx2Vector other) const { return {_mm256_mul_ps(lanes, other.lanes)}; }
  Avx2Vector operator/(Avx2Vector other) const { return {_mm256_div_ps(lanes, other.lanes)}; }
};

}  // namespace

const CpuKernels& avx2_kernels() {
  static constexpr CpuKernels kKernels = make_kernels<Avx2Vector>("avx2");
  return kKernels;
}

}  // namespace qfs::kernels

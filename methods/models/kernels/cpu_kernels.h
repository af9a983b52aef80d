// Float32 kernels of decoder-only transformers on a CPU: what LibTorch has no fused or
// allocation-free form of.
//
// Called by backbones. Plain pointers, row-major, no aliasing of inputs and outputs unless said.
// The implementation is chosen once at run time by instruction set (AVX-512, AVX2 with FMA, or
// portable); equal inputs give equal bits whatever the batch size or number of threads, and with
// AVX-512 those of AVX2. Thread-safe; cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>

#include "methods/models/checkpoints/tensor_types.h"

namespace qfs::kernels {

/// Rotates pairs (i, i + dim/2) of a head vector: Su et al. 2021 in the half-split layout of the
/// Hugging Face implementation. `cosines`, `sines`: dim/2 values of the position.
using RotateFn = void (*)(const float* in, const float* cosines, const float* sines, int64_t dim,
                          float* out);

/// out = in / sqrt(mean(in^2) + eps) * weight (Zhang & Sennrich 2019); `out` may be `in`.
using RmsNormFn = void (*)(const float* in, const float* weight, int64_t dim, float eps,
                           float* out);

/// out[i] = silu(gate[i]) * up[i], silu(x) = x / (1 + exp(-x)) (Shazeer 2020); `out` may be `gate`.
using SiluMultiplyFn = void (*)(const float* gate, const float* up, int64_t count, float* out);

/// Its gradients, of out's `above`.
using SiluGradientFn = void (*)(const float* gate, const float* up, const float* above,
                                int64_t count, float* of_gate, float* of_up);

/// Packed values of a row, or of consecutive rows, to float32: checkpoints::dequantize, bit for
/// bit.
using ExpandFn = void (*)(checkpoints::TensorType type, const void* packed, int64_t elements,
                          float* out);

/// Longest row of a packed weight (elements).
inline constexpr int64_t kMaxPackedRow = 32768;

/// Rows [row_begin, row_end) of y = x W^T, or y += x W^T: for every input b < batch,
/// y[b * y_stride + n] (+)= sum_k W[n, k] * x[b * inner + k]. A packed weight is expanded some rows
/// at a time, so that memory is read in its packed size and the result is that of the expanded
/// weight.
struct MatVec {
  checkpoints::TensorType type = checkpoints::TensorType::f32;
  const std::byte* weight = nullptr;  ///< rows of `row_bytes`
  int64_t row_bytes = 0;
  const float* x = nullptr;
  float* y = nullptr;
  int64_t inner = 0;
  int64_t batch = 0;
  int64_t y_stride = 0;
  bool accumulate = false;
};
using MatVecFn = void (*)(const MatVec& task, int64_t row_begin, int64_t row_end);

/// Attention of `heads` queries (one key head's group) over positions [begin, end) of its keys and
/// values, unnormalised, to be merged over parts: for head h, `maximum[h]` is the largest scaled
/// score, `sum[h]` = sum of exp(score - maximum), and out[h * dim ...] = sum of those weights times
/// values (Dao et al. 2022, the online softmax). `scores`: scratch of end - begin floats.
struct AttentionPart {
  const float* queries = nullptr;  ///< [heads, dim]
  const float* keys = nullptr;     ///< [positions, dim]
  const float* values = nullptr;   ///< [positions, dim]
  int64_t heads = 0;
  int64_t dim = 0;
  int64_t begin = 0;
  int64_t end = 0;
  float scale = 1;
  float* scores = nullptr;
  float* maximum = nullptr;
  float* sum = nullptr;
  float* out = nullptr;
};
using AttendFn = void (*)(const AttentionPart& part);

struct CpuKernels {
  const char* instruction_set;  ///< whose bits: "avx2" or "portable"; part of numerics_id
  RotateFn rotate;
  RmsNormFn rms_norm;
  SiluMultiplyFn silu_multiply;
  SiluGradientFn silu_gradient;
  ExpandFn expand;
  MatVecFn matvec;
  AttendFn attend;
};

/// The best set for this machine; QFS_CPU_KERNELS=portable or avx2 in the environment holds it
/// back.
const CpuKernels& cpu_kernels();

/// All sets, for tests; the latter two must only be called where the machine has what they need.
const CpuKernels& portable_kernels();
const CpuKernels& avx2_kernels();
const CpuKernels& avx512_kernels();
bool has_avx2();
bool has_avx512();

/// Whether the machine multiplies bfloat16 in hardware (AVX-512 BF16), unless
/// QFS_CPU_KERNELS holds it back.
bool has_bfloat16_products();

}  // namespace qfs::kernels

// Float32 kernels of reading many tokens on a CPU: products with a packed weight, and what lies
// between them in post-norm encoders and in attention.
//
// Called by packed_products.h, packed_attention.h and architectures. Plain pointers, row-major, no
// aliasing of inputs and outputs unless said. Chosen once at run time by instruction set (AVX-512,
// AVX2 with FMA, or portable). A value depends on its own row alone, and AVX-512 and AVX2 give
// equal bits: every sum of products is one chain of fused multiply-adds along the inner dimension,
// every other sum has a fixed order. Thread-safe; cannot fail.
#pragma once

#include <cstdint>

namespace qfs::kernels {

/// Outputs that lie beside one another in a packed weight.
inline constexpr int64_t kPanelWidth = 32;

/// Floats of a packed weight [outputs, inputs]: [ceil(outputs / 32), inputs, 32].
constexpr int64_t panel_floats(int64_t outputs, int64_t inputs) {
  return (outputs + kPanelWidth - 1) / kPanelWidth * kPanelWidth * inputs;
}

/// Packs rows of `inputs` floats, `stride` floats apart; zeros behind the last.
void pack_rows(const float* weight, int64_t outputs, int64_t inputs, int64_t stride, float* panels);

/// The same of the transposed weight [inputs, outputs], whose rows are `stride` floats apart.
void pack_columns(const float* weight, int64_t outputs, int64_t inputs, int64_t stride,
                  float* panels);

/// y = x W^T + bias: y[r * y_stride + n] = bias[n] + sum_k x[r * x_stride + k] * W[n, k]; with
/// `add`, that sum is added to the present y.
struct PanelProduct {
  const float* panels = nullptr;
  const float* bias = nullptr;  ///< may be null
  const float* x = nullptr;
  float* y = nullptr;
  int64_t rows = 0;
  int64_t inputs = 0;
  int64_t outputs = 0;
  int64_t x_stride = 0;
  int64_t y_stride = 0;
  bool add = false;
};

struct DenseKernels {
  const char* instruction_set;  ///< "avx512", "avx2" or "portable"
  void (*multiply)(const PanelProduct& product);
  /// x Phi(x), by erfc of Abramowitz & Stegun 7.1.26 (absolute error 1.5e-7); in place.
  void (*gelu)(float* values, int64_t count);
  /// Its approximation by tanh (Hendrycks & Gimpel 2016); in place.
  void (*gelu_tanh)(float* values, int64_t count);
  /// Each row to mean 0 and variance 1, times weight plus bias (Ba et al. 2016); in place.
  void (*layer_norm)(float* rows, int64_t count, int64_t width, const float* weight,
                     const float* bias, float eps);
  /// The first `width` values of each row to exp(scale * x) over their sum; in place. Rows are
  /// `stride` floats apart, and those behind the width become 0.
  void (*softmax)(float* rows, int64_t count, int64_t width, int64_t stride, float scale);
  /// Back through softmax: `above`, gradients of its results, becomes those of its inputs, scale
  /// result (above - sum of result above). Rows of `width` floats beside one another.
  void (*softmax_gradient)(const float* results, float* above, int64_t count, int64_t width,
                           float scale);
};

/// The best set for this machine; QFS_CPU_KERNELS=portable or avx2 in the environment holds it
/// back.
const DenseKernels& dense_kernels();

/// All sets that this machine has, for tests.
const DenseKernels* portable_dense_kernels();
const DenseKernels* avx2_dense_kernels();    ///< nullptr: not here
const DenseKernels* avx512_dense_kernels();  ///< nullptr: not here

}  // namespace qfs::kernels

#include "methods/models/kernels/dense_kernels.h"

#include <cstdlib>
#include <string_view>

#include "methods/models/kernels/dense_kernels_impl.h"

namespace qfs::kernels {
namespace {

struct Portable {
  static constexpr int kLanes = 4;
  static constexpr int kRows = 4;
  static Portable load(const float* in) {
    Portable out;
    std::copy_n(in, kLanes, out.v);
    return out;
  }
  static Portable broadcast(const float* in) {
    Portable out;
    std::fill_n(out.v, kLanes, *in);
    return out;
  }
  static Portable add(Portable a, const Portable& b) {
    for (int i = 0; i < kLanes; ++i) a.v[i] += b.v[i];
    return a;
  }
  static Portable multiply_add(const Portable& a, const Portable& b, Portable c) {
    for (int i = 0; i < kLanes; ++i) c.v[i] += a.v[i] * b.v[i];
    return c;
  }
  void store(float* out) const { std::copy_n(v, kLanes, out); }
  float v[kLanes];
};

using Four [[gnu::vector_size(16), gnu::aligned(4)]] = float;

/// Four values of each of four rows, turned: `to` has them one row of a panel after the other.
void turn(const float* from, int64_t stride, float* to) {
  const auto row = [&](int64_t i) { return *reinterpret_cast<const Four*>(from + i * stride); };
  const Four a = row(0);
  const Four b = row(1);
  const Four c = row(2);
  const Four d = row(3);
  const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four ab_behind = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_behind = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const auto put = [&](int64_t k, Four values) {
    *reinterpret_cast<Four*>(to + k * kPanelWidth) = values;
  };
  put(0, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
  put(1, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
  put(2, __builtin_shufflevector(ab_behind, cd_behind, 0, 1, 4, 5));
  put(3, __builtin_shufflevector(ab_behind, cd_behind, 2, 3, 6, 7));
}

}  // namespace

void pack_rows(const float* weight, int64_t outputs, int64_t inputs, int64_t stride,
               float* panels) {
  constexpr int64_t kLine = 16;  // floats that are read at a time
  for (int64_t first = 0; first < outputs; first += kPanelWidth, panels += kPanelWidth * inputs) {
    const int64_t count = std::min(kPanelWidth, outputs - first);
    const int64_t turned = count / 4 * 4;
    if (count < kPanelWidth) std::fill_n(panels, kPanelWidth * inputs, 0.0F);
    int64_t k = 0;
    for (; k + kLine <= inputs; k += kLine) {
      for (int64_t n = 0; n < turned; n += 4) {
        const float* const from = weight + (first + n) * stride + k;
        for (int64_t i = 0; i < kLine; i += 4) {
          turn(from + i, stride, panels + (k + i) * kPanelWidth + n);
        }
      }
    }
    for (int64_t n = 0; n < count; ++n) {
      const float* const row = weight + (first + n) * stride;
      for (int64_t i = n < turned ? k : 0; i < inputs; ++i) panels[i * kPanelWidth + n] = row[i];
    }
  }
}

void pack_columns(const float* weight, int64_t outputs, int64_t inputs, int64_t stride,
                  float* panels) {
  for (int64_t first = 0; first < outputs; first += kPanelWidth) {
    const int64_t count = std::min(kPanelWidth, outputs - first);
    for (int64_t k = 0; k < inputs; ++k, panels += kPanelWidth) {
      std::copy_n(weight + k * stride + first, count, panels);
      std::fill(panels + count, panels + kPanelWidth, 0.0F);
    }
  }
}

const DenseKernels* portable_dense_kernels() {
  static constexpr DenseKernels kKernels = make_dense_kernels<Portable>("portable");
  return &kKernels;
}

const DenseKernels& dense_kernels() {
  static const DenseKernels& chosen = []() -> const DenseKernels& {
    const char* const given = std::getenv("QFS_CPU_KERNELS");
    const std::string_view wanted = given == nullptr ? "" : given;
    if (wanted == "portable") return *portable_dense_kernels();
    if (const auto* kernels = avx512_dense_kernels(); kernels != nullptr && wanted != "avx2") {
      return *kernels;
    }
    const auto* kernels = avx2_dense_kernels();
    return kernels != nullptr ? *kernels : *portable_dense_kernels();
  }();
  return chosen;
}

}  // namespace qfs::kernels

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

}  // namespace

void pack_rows(const float* weight, int64_t outputs, int64_t inputs, int64_t stride,
               float* panels) {
  constexpr int64_t kLine = 16;  // floats that are read at a time
  for (int64_t first = 0; first < outputs; first += kPanelWidth, panels += kPanelWidth * inputs) {
    const int64_t count = std::min(kPanelWidth, outputs - first);
    if (count < kPanelWidth) std::fill_n(panels, kPanelWidth * inputs, 0.0F);
    for (int64_t from = 0; from < inputs; from += kLine) {
      const int64_t to = std::min(from + kLine, inputs);
      for (int64_t n = 0; n < count; ++n) {
        const float* const row = weight + (first + n) * stride;
        for (int64_t k = from; k < to; ++k) panels[k * kPanelWidth + n] = row[k];
      }
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

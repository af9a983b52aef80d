#include "methods/models/kernels/cpu_kernels_impl.h"

namespace qfs::kernels {

namespace {

/// Eight floats in plain C++; the compiler uses what the baseline has.
struct PortableVector {
  float lanes[8];

  static PortableVector zero() { return broadcast(0); }
  static PortableVector one() { return broadcast(1); }
  static PortableVector broadcast(float value) {
    PortableVector out;
    for (float& lane : out.lanes) lane = value;
    return out;
  }
  static PortableVector load(const float* from) {
    PortableVector out;
    for (int i = 0; i < 8; ++i) out.lanes[i] = from[i];
    return out;
  }
  static PortableVector multiply_add(const PortableVector& a, const PortableVector& b,
                                     const PortableVector& c) {
    PortableVector out;
    for (int i = 0; i < 8; ++i) out.lanes[i] = a.lanes[i] * b.lanes[i] + c.lanes[i];
    return out;
  }
  static void expand(checkpoints::TensorType type, const void* packed, int64_t elements,
                     float* out) {
    checkpoints::dequantize(type, packed, elements, out);
  }
  static bool matvec_packed(const MatVec&, int64_t, int64_t) { return false; }
  static PortableVector exp(const PortableVector& x) {
    PortableVector out;
    for (int i = 0; i < 8; ++i) out.lanes[i] = std::exp(x.lanes[i]);
    return out;
  }
  void store(float* to) const {
    for (int i = 0; i < 8; ++i) to[i] = lanes[i];
  }
  float sum() const {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
  }

  template <class Operation>
  PortableVector combine(const PortableVector& other, Operation operation) const {
    PortableVector out;
    for (int i = 0; i < 8; ++i) out.lanes[i] = operation(lanes[i], other.lanes[i]);
    return out;
  }
  PortableVector operator+(const PortableVector& other) const {
    return combine(other, [](float a, float b) { return a + b; });
  }
  PortableVector operator-(const PortableVector& other) const {
    return combine(other, [](float a, float b) { return a - b; });
  }
  PortableVector operator*(const PortableVector& other) const {
    return combine(other, [](float a, float b) { return a * b; });
  }
  PortableVector operator/(const PortableVector& other) const {
    return combine(other, [](float a, float b) { return a / b; });
  }
};

}  // namespace

const CpuKernels& portable_kernels() {
  static constexpr CpuKernels kKernels = make_kernels<PortableVector>("portable");
  return kKernels;
}

}  // namespace qfs::kernels

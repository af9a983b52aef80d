// The exponential of kernels on a CPU, which compilers turn into vectors.
//
// Included by kernels. Pure; thread-safe.
#pragma once

#include <bit>
#include <cstdint>

namespace qfs::kernels {
namespace {

/// e^x for x <= 0, to 2 units in the last place; e^-87 below -87. Coefficients: Cephes, expf.
[[gnu::always_inline]] inline float negative_exp(float x) {
  x = x < -87.0F ? -87.0F : x;
  const auto n = static_cast<int32_t>(x * 1.44269504F - 0.5F);
  const auto whole = static_cast<float>(n);
  const float r = (x - whole * 0.693359375F) + whole * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  return (p * r * r + r + 1.0F) * std::bit_cast<float>((n + 127) << 23);
}

}  // namespace
}  // namespace qfs::kernels

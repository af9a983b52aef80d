#include "methods/models/nn/sinusoidal.h"

#include <ATen/ops/empty.h>

#include <cmath>

namespace qfs::nn {

at::Tensor sinusoidal_positions(int64_t rows, int64_t width) {
  at::Tensor table = at::empty({rows, width}, at::kFloat);
  float* out = table.mutable_data_ptr<float>();
  const int64_t sines = width - width / 2;
  for (int64_t row = 0; row < rows; ++row, out += width) {
    for (int64_t i = 0; i < width; ++i) {
      const int64_t pair = i < sines ? i : i - sines;
      const double exponent = 2 * static_cast<double>(pair) / static_cast<double>(width);
      const double angle = static_cast<double>(row) / std::pow(10000.0, exponent);
      out[i] = static_cast<float>(i < sines ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

}  // namespace qfs::nn

#include "methods/models/nn/rope.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace qfs::nn {

namespace {

using checkpoints::RopeConfig;

/// base^(2i / head_dim): wave lengths over 2 pi.
at::Tensor periods(const RopeConfig& config, int64_t head_dim) {
  const at::Tensor exponents =
      at::arange(0, head_dim, 2).to(at::kFloat) / static_cast<double>(head_dim);
  return at::pow(at::Scalar(config.theta), exponents);
}

at::Tensor llama3_frequencies(const RopeConfig& config, const at::Tensor& frequencies) {
  const auto original = static_cast<double>(config.original_context.value_or(8192));
  const double low = config.low_freq_factor.value_or(1);
  const double high = config.high_freq_factor.value_or(4);
  const at::Tensor wave = 2 * std::numbers::pi / frequencies;
  const at::Tensor slow = wave > original / low;
  const at::Tensor fast = wave < original / high;
  const at::Tensor slowed = at::where(slow, frequencies / config.factor, frequencies);
  const at::Tensor smooth = (original / wave - low) / (high - low);
  const at::Tensor between = (1 - smooth) * slowed / config.factor + smooth * slowed;
  return at::where(fast.logical_or(slow), slowed, between);
}

at::Tensor yarn_frequencies(const RopeConfig& config, const at::Tensor& periods, int64_t head_dim) {
  const auto original = static_cast<double>(*config.original_context);
  const auto dimension = static_cast<double>(head_dim);
  const auto correction = [&](double rotations) {
    return dimension * std::log(original / (rotations * 2 * std::numbers::pi)) /
           (2 * std::log(config.theta));
  };
  double low = correction(config.beta_fast.value_or(32));
  double high = correction(config.beta_slow.value_or(1));
  if (config.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dimension - 1);
  if (low == high) high += 0.001;
  const at::Tensor ramp =
      ((at::arange(head_dim / 2).to(at::kFloat) - low) / (high - low)).clamp(0, 1);
  const at::Tensor extrapolated = 1 - ramp;
  return 1.0 / (config.factor * periods) * (1 - extrapolated) + 1.0 / periods * extrapolated;
}

/// What yarn multiplies cosines and sines with.
double yarn_attention(const RopeConfig& config) {
  if (config.attention_factor) return *config.attention_factor;
  const auto scale = [&](double weight) {
    return config.factor <= 1 ? 1.0 : 0.1 * weight * std::log(config.factor) + 1.0;
  };
  if (!config.mscale || !config.mscale_all_dim) return scale(1);
  return scale(*config.mscale) / scale(*config.mscale_all_dim);
}

}  // namespace

Rotations make_rotations(const RopeConfig& config, int64_t head_dim, int64_t positions) {
  const at::Tensor period = periods(config, head_dim);
  at::Tensor frequencies = 1.0 / period;
  double scale = 1;
  if (config.type == "linear") {
    frequencies = frequencies / config.factor;
  } else if (config.type == "llama3") {
    frequencies = llama3_frequencies(config, frequencies);
  } else if (config.type == "yarn") {
    frequencies = yarn_frequencies(config, period, head_dim);
    scale = yarn_attention(config);
  } else if (config.type != "default" && config.type != "dynamic") {
    throw std::logic_error("RoPE scaling '" + config.type + "' was not refused");
  }
  const at::Tensor angles = at::outer(at::arange(positions).to(at::kFloat), frequencies);
  if (scale == 1) return {angles.cos(), angles.sin()};
  return {angles.cos() * scale, angles.sin() * scale};
}

at::Tensor rotated(const at::Tensor& heads, const Rotations& at) {
  const int64_t half = heads.size(2) / 2;
  const at::Tensor first = heads.narrow(2, 0, half);
  const at::Tensor second = heads.narrow(2, half, half);
  const at::Tensor cosines = at.cosines.unsqueeze(1);
  const at::Tensor sines = at.sines.unsqueeze(1);
  return at::cat({first * cosines - second * sines, second * cosines + first * sines}, 2);
}

void RotationTable::cover(int64_t positions) {
  if (holds(positions)) return;
  constexpr int64_t kStep = 1024;  // so that caches that grow by little seldom make it anew
  const Rotations made =
      make_rotations(config_, head_dim_, (positions + kStep - 1) / kStep * kStep);
  rotations_ = {made.cosines.to(device_), made.sines.to(device_)};
}

}  // namespace qfs::nn

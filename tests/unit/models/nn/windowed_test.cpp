// LED's self-attention equals its definition for every pattern of global tokens.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "methods/models/nn/runtime/device_runtime.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/windowed/windowed_attention.h"

namespace qfs::nn {
namespace {

using Positions = std::vector<int64_t>;

/// A layer's input, projections and weights, of random values.
struct Layer {
  at::Tensor states;  ///< [1, length, hidden]
  at::Tensor qkv;     ///< [3, 1, heads, length, head_dim], laid out as an encoder projects it
  GlobalProjections global;

  Layer to(at::Device device, at::ScalarType type) const {
    const auto moved = [&](const Linear& linear) {
      return Linear{linear.weight.to(device, type), linear.bias.to(device, type)};
    };
    return {states.to(device, type),
            qkv.permute({1, 3, 0, 2, 4}).to(device, type).permute({2, 0, 3, 1, 4}),
            {moved(global.query), moved(global.key_value)}};
  }
};

Layer random_layer(int64_t length, int64_t heads, int64_t dim) {
  const int64_t hidden = heads * dim;
  const auto values = [](at::IntArrayRef shape) { return at::randn(shape, at::kDouble); };
  const auto linear = [&](int64_t outputs) {
    return Linear{values({outputs, hidden}) / std::sqrt(static_cast<double>(hidden)),
                  values({outputs})};
  };
  return {values({1, length, hidden}),
          values({1, length, 3, heads, dim}).permute({2, 0, 3, 1, 4}),
          {linear(hidden), linear(2 * hidden)}};
}

/// softmax(q . k / sqrt(dim)) v of one query of a head over the keys that it sees.
std::vector<double> attended(const double* query, const double* keys, const double* values,
                             int64_t dim, const Positions& seen) {
  double sum = 0;
  std::vector<double> output(static_cast<size_t>(dim));
  for (const int64_t key : seen) {
    double score = 0;
    for (int64_t i = 0; i < dim; ++i) score += query[i] * keys[key * dim + i];
    const double share = std::exp(score / std::sqrt(static_cast<double>(dim)));
    sum += share;
    for (int64_t i = 0; i < dim; ++i) {
      output[static_cast<size_t>(i)] += share * values[key * dim + i];
    }
  }
  for (double& value : output) value /= sum;
  return output;
}

/// The definition, pair by pair: Beltagy et al. 2020. `layer` in float64 on the CPU.
at::Tensor defined(const Layer& layer, const Window& window, const Positions& global) {
  const int64_t heads = layer.qkv.size(2);
  const int64_t length = layer.qkv.size(3);
  const int64_t dim = layer.qkv.size(4);
  const at::Tensor local = layer.qkv.squeeze(1).contiguous();
  const at::Tensor asking =
      apply(layer.global.query, layer.states).view({length, heads, dim}).transpose(0, 1);
  const at::Tensor asked = apply(layer.global.key_value, layer.states)
                               .view({length, 2, heads, dim})
                               .permute({1, 2, 0, 3});
  const at::Tensor others = at::cat({asking.unsqueeze(0), asked}).contiguous();
  const std::set<int64_t> is_global(global.begin(), global.end());
  at::Tensor output = at::zeros({1, heads, length, dim}, at::kDouble);
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t row = 0; row < length; ++row) {
      Positions seen;
      for (int64_t key = 0; key < length; ++key) {
        if (is_global.contains(row) || is_global.contains(key) || window.sees(row, key)) {
          seen.push_back(key);
        }
      }
      const at::Tensor& from = is_global.contains(row) ? others : local;
      const auto part = [&](int64_t i) { return from[i][head].const_data_ptr<double>(); };
      const auto expected = attended(part(0) + row * dim, part(1), part(2), dim, seen);
      std::ranges::copy(expected, output.mutable_data_ptr<double>() + (head * length + row) * dim);
    }
  }
  return output;
}

/// Global tokens of a text: none, at its ends, neighbours, many, all within one window, all of it.
std::vector<Positions> patterns(int64_t length) {
  std::vector<Positions> all = {{}, {0}, {length - 1}};
  Positions every(static_cast<size_t>(length));
  std::iota(every.begin(), every.end(), 0);
  all.push_back(every);
  if (length < 12) return all;
  all.push_back({0, length - 1});
  all.push_back({length / 2, length / 2 + 1, length / 2 + 2});
  all.push_back({0, 1, 2, 3, 4, 5, 6});
  all.emplace_back();
  for (int64_t at = 3; at < length; at += 7) all.back().push_back(at);
  return all;
}

class LedWindowsTest : public ::testing::Test {
 protected:
  LedWindowsTest() {
    EXPECT_TRUE(configure_torch({}).ok());
    at::manual_seed(7);
  }

  at::Tensor with_masks(const Layer& layer, const Window& window, const Positions& global) {
    const WindowedAttention attention({&window, 1}, {&layer.global, 1}, global,
                                      layer.states.size(1), layer.states.device());
    return attention.attend(0, layer.states, layer.qkv);
  }
};

TEST_F(LedWindowsTest, it_equals_the_definition_for_every_pattern_of_global_tokens) {
  for (const int64_t length : {1, 3, 12, 127, 128, 129, 300}) {
    const Layer layer = random_layer(length, 2, 4);
    for (const Positions& global : patterns(length)) {
      for (const int64_t reach : {1, 5, 64, 150, 400}) {
        SCOPED_TRACE("length " + std::to_string(length) + ", reach " + std::to_string(reach) +
                     ", global " + ::testing::PrintToString(global));
        const Window window = {.reach = reach};
        const at::Tensor expected = defined(layer, window, global);
        const at::Tensor actual = with_masks(layer, window, global);
        EXPECT_TRUE(at::allclose(actual, expected, 1e-10, 1e-10));
        EXPECT_EQ(actual.sizes(), expected.sizes());
      }
    }
  }
}

TEST_F(LedWindowsTest, every_layer_has_its_own_window_and_projections) {
  const std::vector<Window> windows = {{.reach = 2}, {.reach = 40}, {.reach = 7}};
  const Positions global = {0, 50, 51};
  std::vector<Layer> layers;
  std::vector<GlobalProjections> projections;
  for (size_t i = 0; i < windows.size(); ++i) {
    layers.push_back(random_layer(90, 2, 4));
    projections.push_back(layers.back().global);
  }
  const WindowedAttention attention(windows, projections, global, 90, at::kCPU);
  for (size_t i = 0; i < windows.size(); ++i) {
    const at::Tensor actual =
        attention.attend(static_cast<int64_t>(i), layers[i].states, layers[i].qkv);
    EXPECT_TRUE(at::allclose(actual, defined(layers[i], windows[i], global), 1e-10, 1e-10)) << i;
  }
}

TEST_F(LedWindowsTest, masks_are_allowed_in_16_bits_only_while_they_are_attended_with) {
  at::Context& context = at::globalContext();
  const bool before = context.userEnabledMemEfficientSDP();
  context.setSDPUseMemEfficient(false);  // as 16-bit types have it on a GPU
  {
    const MaskedAttention scope;
    EXPECT_TRUE(context.userEnabledMemEfficientSDP());
  }
  EXPECT_FALSE(context.userEnabledMemEfficientSDP());
  const Layer layer = random_layer(4, 2, 8);
  with_masks(layer, {.reach = 2}, {0});
  EXPECT_FALSE(context.userEnabledMemEfficientSDP());
  context.setSDPUseMemEfficient(before);
}

}  // namespace
}  // namespace qfs::nn

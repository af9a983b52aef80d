// LED's self-attention equals its definition for every pattern of global tokens.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
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

/// The definition over all pairs at once, for gradients: masked scores of every token, and of the
/// global ones by their own projections.
at::Tensor dense(const Layer& layer, const Window& window, const Positions& global) {
  const int64_t heads = layer.qkv.size(2);
  const int64_t length = layer.qkv.size(3);
  const int64_t dim = layer.qkv.size(4);
  const auto attended_by = [&](const at::Tensor& queries, const at::Tensor& keys,
                               const at::Tensor& values, const at::Tensor& hidden) {
    const at::Tensor scores =
        at::matmul(queries, keys.transpose(-1, -2)) / std::sqrt(static_cast<double>(dim));
    const double infinity = std::numeric_limits<double>::infinity();
    return at::matmul(at::softmax(scores.masked_fill(hidden, -infinity), -1), values);
  };
  at::Tensor hidden = at::zeros({length, length}, at::kBool);
  for (int64_t row = 0; row < length; ++row) {
    for (int64_t key = 0; key < length; ++key) {
      hidden[row][key] = !window.sees(row, key) && std::ranges::count(global, key) == 0;
    }
  }
  const at::Tensor local =
      attended_by(layer.qkv.select(0, 0), layer.qkv.select(0, 1), layer.qkv.select(0, 2), hidden);
  if (global.empty()) return local;
  const auto by_head = [&](const at::Tensor& projected) {
    return projected.view({1, length, heads, dim}).transpose(1, 2);
  };
  const at::Tensor key_value = apply(layer.global.key_value, layer.states);
  const int64_t width = heads * dim;
  const at::Tensor whole = attended_by(by_head(apply(layer.global.query, layer.states)),
                                       by_head(key_value.slice(-1, 0, width)),
                                       by_head(key_value.slice(-1, width)), at::zeros_like(hidden));
  at::Tensor chosen = at::zeros({length, 1}, at::kBool);
  for (const int64_t row : global) chosen[row] = true;
  return at::where(chosen, whole, local);
}

/// What gradients may reach: states, projections of the layer, and the global ones.
std::vector<at::Tensor> leaves_of(Layer& layer) {
  std::vector<at::Tensor> leaves;
  for (at::Tensor* part :
       {&layer.states, &layer.qkv, &layer.global.query.weight, &layer.global.query.bias,
        &layer.global.key_value.weight, &layer.global.key_value.bias}) {
    *part = part->detach().clone().set_requires_grad(true);
    leaves.push_back(*part);
  }
  return leaves;
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

/// While it lives, ATen attends by two products and a softmax, as where it has no fused kernel: the
/// scores of a block of queries are whole in memory.
class Unfused {
 public:
  Unfused() : before_(at::globalContext().userEnabledFlashSDP()) {
    at::globalContext().setSDPUseFlash(false);
  }
  ~Unfused() { at::globalContext().setSDPUseFlash(before_); }
  Unfused(const Unfused&) = delete;
  Unfused& operator=(const Unfused&) = delete;

 private:
  bool before_;
};

/// Which of its ways ATen takes for masked attention: 0 is the one of two products.
int64_t chosen_way() {
  const at::Tensor rows = at::zeros({1, 2, 8, 4}, at::kDouble);
  return at::_fused_sdp_choice(rows, rows, rows, at::ones({8, 8}, at::kBool));
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
  // Around multiples of a window of 4, which has a reach of 2, and of a block.
  for (const int64_t length : {1, 3, 4, 5, 7, 8, 9, 12, 127, 128, 129, 300}) {
    const Layer layer = random_layer(length, 4, 4);
    for (const Positions& global : patterns(length)) {
      for (const int64_t reach : {1, 2, 5, 64, 150, 400}) {
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

TEST_F(LedWindowsTest, two_products_and_a_softmax_give_the_same_where_no_fused_kernel_is) {
  EXPECT_NE(chosen_way(), 0);
  const Unfused scope;
  ASSERT_EQ(chosen_way(), 0);
  for (const int64_t length : {1, 12, 127, 128, 129, 300}) {
    const Layer layer = random_layer(length, 2, 4);
    for (const Positions& global : patterns(length)) {
      for (const Window& window : {Window{.reach = 1}, Window{.reach = 5}, Window{.reach = 64},
                                   Window{.reach = 400}, Window{.reach = 64, .blocks = true}}) {
        SCOPED_TRACE("length " + std::to_string(length) + ", reach " +
                     std::to_string(window.reach) + ", global " + ::testing::PrintToString(global));
        EXPECT_TRUE(at::allclose(with_masks(layer, window, global), defined(layer, window, global),
                                 1e-10, 1e-10));
      }
    }
  }
}

TEST_F(LedWindowsTest, blocks_without_overlap_see_themselves_and_their_neighbours) {
  // ConvoSumm's: three whole blocks, so that what lies behind a token is not what lies before it.
  const Window three = {.reach = 3, .blocks = true};
  for (int64_t query = 0; query < 14; ++query) {
    const int64_t block = query - query % 3;
    for (int64_t key = 0; key < 14; ++key) {
      EXPECT_EQ(three.sees(query, key), key >= block - 3 && key < block + 6) << query << key;
    }
  }
  for (const int64_t length : {1, 7, 12, 129, 300}) {
    const Layer layer = random_layer(length, 2, 4);
    for (const Positions& global : patterns(length)) {
      for (const int64_t reach : {1, 3, 64, 340}) {
        SCOPED_TRACE("length " + std::to_string(length) + ", blocks of " + std::to_string(reach) +
                     ", global " + ::testing::PrintToString(global));
        const Window window = {.reach = reach, .blocks = true};
        EXPECT_TRUE(at::allclose(with_masks(layer, window, global), defined(layer, window, global),
                                 1e-10, 1e-10));
      }
    }
  }
}

TEST_F(LedWindowsTest, texts_that_are_padded_elsewhere_need_no_padding) {
  // transformers fills a text up to a multiple of the window w: here by 0, 1 and w - 1 tokens, of
  // which none is seen. A text is encoded alone and as long as it is.
  for (const int64_t reach : {2, 64}) {
    const int64_t width = 2 * reach;
    for (const int64_t filled : {int64_t{0}, int64_t{1}, width - 1}) {
      const int64_t length = 3 * width - filled;
      const Layer padded = random_layer(3 * width, 2, 4);
      const Layer layer = {padded.states.narrow(1, 0, length), padded.qkv.narrow(3, 0, length),
                           padded.global};
      for (const Positions& global : patterns(length)) {
        SCOPED_TRACE(std::to_string(filled) + " tokens, global " +
                     ::testing::PrintToString(global));
        const Window window = {.reach = reach};
        EXPECT_TRUE(at::allclose(with_masks(layer, window, global), defined(layer, window, global),
                                 1e-10, 1e-10));
      }
    }
  }
}

TEST_F(LedWindowsTest, which_tokens_are_global_matters_and_not_only_how_many) {
  const Layer layer = random_layer(40, 2, 4);
  const Window window = {.reach = 3};
  const std::vector<Positions> flags = {{0, 20, 39}, {1, 20, 39}, {0, 1, 2}, {10, 20, 30}};
  for (size_t i = 0; i < flags.size(); ++i) {
    const at::Tensor own = with_masks(layer, window, flags[i]);
    EXPECT_TRUE(at::allclose(own, defined(layer, window, flags[i]), 1e-10, 1e-10)) << i;
    for (size_t j = 0; j < i; ++j) {
      EXPECT_FALSE(at::allclose(own, with_masks(layer, window, flags[j]), 1e-3, 1e-3)) << i << j;
    }
  }
}

TEST_F(LedWindowsTest, without_windows_or_with_all_tokens_global_it_is_plain_attention) {
  const int64_t length = 21;
  const Layer layer = random_layer(length, 2, 4);
  const auto plain = [](const at::Tensor& queries, const at::Tensor& keys,
                        const at::Tensor& values) {
    const at::Tensor scores = at::matmul(queries, keys.transpose(-1, -2)) / 2.0;  // sqrt(4)
    return at::matmul(at::softmax(scores, -1), values);
  };
  // A reach of 20 has every token see all 21; of 10, the one in the middle alone.
  const at::Tensor local =
      plain(layer.qkv.select(0, 0), layer.qkv.select(0, 1), layer.qkv.select(0, 2));
  EXPECT_TRUE(at::allclose(with_masks(layer, {.reach = 20}, {}), local, 1e-10, 1e-10));
  EXPECT_FALSE(at::allclose(with_masks(layer, {.reach = 10}, {}), local, 1e-3, 1e-3));
  Positions every(static_cast<size_t>(length));
  std::iota(every.begin(), every.end(), 0);
  const auto by_head = [&](const at::Tensor& projected) {
    return projected.view({1, length, 2, 4}).transpose(1, 2);
  };
  const at::Tensor key_value = apply(layer.global.key_value, layer.states);
  EXPECT_TRUE(
      at::allclose(with_masks(layer, {.reach = 1}, every),
                   plain(by_head(apply(layer.global.query, layer.states)),
                         by_head(key_value.slice(-1, 0, 8)), by_head(key_value.slice(-1, 8))),
                   1e-10, 1e-10));
}

TEST_F(LedWindowsTest, gradients_are_those_of_plain_autograd) {
  for (const Positions& global : {Positions{}, Positions{0, 17, 18, 139}}) {
    SCOPED_TRACE(::testing::PrintToString(global));
    Layer layer = random_layer(140, 2, 4);  // two blocks
    const Window window = {.reach = 9};
    const at::Tensor weights = at::randn({1, 2, 140, 4}, at::kDouble);
    const std::vector<at::Tensor> leaves = leaves_of(layer);
    const auto gradients = [&](const at::Tensor& output) {
      for (const at::Tensor& leaf : leaves) leaf.mutable_grad().reset();
      (output * weights).sum().backward();
      std::vector<at::Tensor> found;
      for (const at::Tensor& leaf : leaves) found.push_back(leaf.grad());
      return found;
    };
    const std::vector<at::Tensor> expected = gradients(dense(layer, window, global));
    for (const bool fused : {true, false}) {
      SCOPED_TRACE(fused ? "fused" : "by two products");
      std::optional<Unfused> scope;
      if (!fused) scope.emplace();
      const std::vector<at::Tensor> actual = gradients(with_masks(layer, window, global));
      ASSERT_TRUE(actual[1].defined());
      EXPECT_GT(actual[1].abs().max().item<double>(), 1e-3);
      for (size_t i = 0; i < leaves.size(); ++i) {
        SCOPED_TRACE(i);
        // States ask and are asked by the global projections alone here.
        const bool of_global = i != 1;
        ASSERT_EQ(actual[i].defined(), expected[i].defined());
        EXPECT_EQ(actual[i].defined(), !of_global || !global.empty());
        if (actual[i].defined()) {
          EXPECT_TRUE(at::allclose(actual[i], expected[i], 1e-9, 1e-9));
        }
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

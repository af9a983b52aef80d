// LED's self-attention in parts (window pass, far global tokens, their merge) equals its definition
// and the computation with masks, for every pattern of global tokens; on a GPU by flash attention.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "methods/models/architectures/bart/bart_network.h"
#include "methods/models/nn/runtime/device_runtime.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/windowed/flash_windows.h"
#include "methods/models/nn/windowed/merged_attention.h"
#include "methods/models/nn/windowed/windowed_attention.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/kernel_device.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"
#include "tests/support/tiny_seq2seq.h"

namespace qfs::backbones {
namespace {

using ::qfs::test::TinySeq2Seq;
using ::testing::HasSubstr;
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
    device_ = test::kernel_device();
  }

  at::Tensor in_parts(const Layer& layer, const Window& window, const Positions& global,
                      WindowPass pass) {
    const MergedAttention attention({&window, 1}, {&layer.global, 1}, global, layer.states.device(),
                                    pass);
    return attention.attend(0, layer.states, layer.qkv);
  }
  at::Tensor with_masks(const Layer& layer, const Window& window, const Positions& global) {
    const WindowedAttention attention({&window, 1}, {&layer.global, 1}, global,
                                      layer.states.size(1), layer.states.device());
    return attention.attend(0, layer.states, layer.qkv);
  }
  std::shared_ptr<const Network> network(const TinySeq2Seq& tiny) {
    const auto directory = checkpoints::ModelDirectory::open(tiny.write(folder_));
    EXPECT_TRUE(directory.ok());
    auto loaded = load_bart_folder(*directory);
    EXPECT_TRUE(loaded.ok()) << loaded.error().to_string();
    return *loaded;
  }
  Error refusal(const Network& network, const RuntimeOptions& runtime) {
    ResourceCache cache;
    const auto opened = network.open(runtime, "digest", cache);
    EXPECT_FALSE(opened.ok());
    return opened.error();
  }

  test::TemporaryFolder folder_;
  test::KernelDevice device_;
};

TEST_F(LedWindowsTest, parts_and_masks_equal_the_definition_for_every_pattern_of_global_tokens) {
  for (const int64_t length : {1, 3, 12, 127, 128, 129, 300}) {
    const Layer layer = random_layer(length, 2, 4);
    for (const Positions& global : patterns(length)) {
      for (const int64_t reach : {1, 5, 64, 150, 400}) {
        SCOPED_TRACE("length " + std::to_string(length) + ", reach " + std::to_string(reach) +
                     ", global " + ::testing::PrintToString(global));
        const Window window = {.reach = reach};
        const at::Tensor expected = defined(layer, window, global);
        EXPECT_TRUE(at::allclose(with_masks(layer, window, global), expected, 1e-10, 1e-10));
        const at::Tensor parts = in_parts(layer, window, global, block_window_pass);
        EXPECT_TRUE(at::allclose(parts, expected, 1e-10, 1e-10));
        EXPECT_EQ(parts.sizes(), expected.sizes());
      }
    }
  }
}

TEST_F(LedWindowsTest, float32_parts_equal_masks_to_rounding) {
  const Layer layer = random_layer(300, 2, 8).to(at::kCPU, at::kFloat);
  for (const Positions& global : patterns(300)) {
    const Window window = {.reach = 20};
    const at::Tensor parts = in_parts(layer, window, global, block_window_pass);
    EXPECT_EQ(parts.scalar_type(), at::kFloat);
    EXPECT_TRUE(at::allclose(parts, with_masks(layer, window, global), 1e-5, 1e-5));
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
  const MergedAttention attention(windows, projections, global, at::kCPU, block_window_pass);
  for (size_t i = 0; i < windows.size(); ++i) {
    const at::Tensor actual =
        attention.attend(static_cast<int64_t>(i), layers[i].states, layers[i].qkv);
    EXPECT_TRUE(at::allclose(actual, defined(layers[i], windows[i], global), 1e-10, 1e-10)) << i;
  }
}

TEST_F(LedWindowsTest, many_global_tokens_are_attended_to_some_rows_at_a_time) {
  // 2 heads x 4,100 rows x 2,100 tokens are more than the 2^24 scores that are kept at once.
  const Layer layer = random_layer(4100, 2, 4);
  Positions global(2100);
  std::iota(global.begin(), global.end(), 0);
  const Window window = {.reach = 3};
  EXPECT_TRUE(at::allclose(in_parts(layer, window, global, block_window_pass),
                           with_masks(layer, window, global), 1e-10, 1e-10));
}

TEST_F(LedWindowsTest, queries_without_keys_add_nothing_and_no_nan) {
  const Layer layer = random_layer(3, 1, 4);
  const at::Tensor queries = layer.qkv[0];
  const at::Tensor keys = layer.qkv[1];
  const at::Tensor values = layer.qkv[2];
  const at::Tensor rows = at::arange(3);
  const AttentionPart all = attend_to(queries, keys, values, at::full({3, 3}, true));
  const AttentionPart none = attend_to(queries, keys, values, at::full({3, 3}, false));
  EXPECT_TRUE(at::equal(none.output, at::zeros_like(all.output)));
  EXPECT_TRUE(none.log_sum_exp.isneginf().all().item<bool>());
  for (const AttentionPart& both : {merged(all, none), merged(none, all)}) {
    EXPECT_TRUE(at::equal(both.output, all.output));
    EXPECT_TRUE(at::equal(both.log_sum_exp, all.log_sum_exp));
  }
  const AttentionPart nothing = merged(none, none);
  EXPECT_TRUE(at::equal(nothing.output, none.output));
  EXPECT_TRUE(nothing.log_sum_exp.isneginf().all().item<bool>());
  // Scores far below and above what float32's exp holds.
  const at::Tensor far = queries * 1e4;
  const auto seen = [&](const at::Tensor& which) { return which.expand({3, 3}); };
  const AttentionPart split = merged(attend_to(far, keys, values, seen(rows < 1)),
                                     attend_to(far, keys, values, seen(rows >= 1)));
  const AttentionPart whole = attend_to(far, keys, values, at::full({3, 3}, true));
  EXPECT_TRUE(at::allclose(split.output, whole.output, 1e-10, 1e-10));
  EXPECT_TRUE(at::allclose(split.log_sum_exp, whole.log_sum_exp, 1e-10, 1e-10));
}

/// What rounding to a type makes of values about 1, with room for the order of sums.
double tolerance(at::ScalarType type) { return type == at::kHalf ? 4e-3 : 3e-2; }

TEST_F(LedWindowsTest, the_window_pass_of_the_device_equals_its_twin) {
  const WindowPass pass = test::on_cuda() ? flash_window_pass : block_window_pass;
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    for (const int64_t dim : {8, 64}) {
      for (const int64_t length : {1, 37, 300, 2049}) {
        const Layer layer = random_layer(length, 2, dim).to(device_.place, type);
        const Layer same = layer.to(at::kCPU, at::kFloat);
        for (const int64_t reach : {1, 5, 64, 400}) {
          SCOPED_TRACE("length " + std::to_string(length) + ", reach " + std::to_string(reach) +
                       ", dim " + std::to_string(dim) + ", " + c10::toString(type));
          const AttentionPart actual = pass(layer.qkv[0], layer.qkv[1], layer.qkv[2], reach);
          const AttentionPart expected =
              block_window_pass(same.qkv[0], same.qkv[1], same.qkv[2], reach);
          EXPECT_TRUE(at::allclose(actual.output.to(at::kCPU, at::kFloat), expected.output,
                                   tolerance(type), tolerance(type)));
          EXPECT_EQ(actual.log_sum_exp.scalar_type(), at::kFloat);
          EXPECT_TRUE(
              at::allclose(actual.log_sum_exp.to(at::kCPU), expected.log_sum_exp, 1e-3, 1e-3));
        }
      }
    }
  }
}

TEST_F(LedWindowsTest, parts_on_the_device_equal_masks_in_16_bits) {
  const WindowPass pass = test::on_cuda() ? flash_window_pass : block_window_pass;
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    for (const int64_t length : {3, 129, 1000}) {
      const Layer layer = random_layer(length, 2, 64).to(device_.place, type);
      for (const Positions& global : patterns(length)) {
        for (const int64_t reach : {2, 64}) {
          SCOPED_TRACE("length " + std::to_string(length) + ", reach " + std::to_string(reach) +
                       ", " + c10::toString(type) + ", global " + ::testing::PrintToString(global));
          const Window window = {.reach = reach};
          const at::Tensor parts = in_parts(layer, window, global, pass);
          EXPECT_EQ(parts.scalar_type(), type);
          EXPECT_TRUE(at::allclose(parts.to(at::kFloat),
                                   with_masks(layer, window, global).to(at::kFloat),
                                   tolerance(type), tolerance(type)));
        }
      }
    }
  }
}

TEST_F(LedWindowsTest, a_model_on_a_gpu_gives_the_same_logits_and_a_cpu_refuses) {
  const auto led = network({.led = true, .width = 16, .heads = 2});
  const auto flash = led->with_flash_windows();
  ASSERT_TRUE(flash.ok()) << flash.error().to_string();
  if (!test::on_cuda()) {
    for (const char* dtype : {"float32", "bfloat16"}) {
      const Error error = refusal(**flash, {.dtype = dtype});
      EXPECT_EQ(error.kind, ErrorKind::unavailable);
      EXPECT_THAT(error.message, HasSubstr("need a GPU; the device is 'cpu'"));
    }
    return;
  }
  const SequenceInput input = {.ids = test::some_tokens(100, 1), .global_positions = {0, 40, 41}};
  for (const char* dtype : {"bfloat16", "float16"}) {
    const RuntimeOptions runtime = {.device = "cuda", .dtype = dtype};
    ASSERT_TRUE(configure_torch(runtime).ok());
    ResourceCache cache;
    std::vector<std::vector<float>> logits;
    for (const auto& one : {led, *flash}) {
      auto model = one->open(runtime, "digest", cache);
      ASSERT_TRUE(model.ok()) << model.error().to_string();
      logits.emplace_back(TinySeq2Seq::kVocabulary);
      ASSERT_TRUE((*model)->begin(1, 4).ok());
      const Status read = (*model)->prefill(0, input, logits.back());
      ASSERT_TRUE(read.ok()) << read.error().to_string();
    }
    EXPECT_NE(logits[0], std::vector<float>(TinySeq2Seq::kVocabulary));
    for (size_t i = 0; i < logits[0].size(); ++i) {
      // Two layers of values of about 1, products of 16 to 20 of them: a few roundings.
      ASSERT_NEAR(logits[1][i], logits[0][i], std::string_view(dtype) == "float16" ? 0.03 : 0.2)
          << dtype << ", logit " << i;
    }
  }
}

TEST_F(LedWindowsTest, what_flash_attention_cannot_compute_is_refused_with_the_reason) {
  const std::vector<Window> bands = {{.reach = 4}, {.reach = 2}};
  EXPECT_TRUE(check_flash_encoder(bands, 64).ok());
  const auto why = [](const Status& status, ErrorKind kind) {
    EXPECT_EQ(status.error().kind, kind);
    return status.error().message;
  };
  EXPECT_THAT(why(check_flash_encoder({}, 64), ErrorKind::invalid_argument),
              HasSubstr("an encoder with windows"));
  const std::vector<Window> mixed = {{.reach = 4}, {.reach = 4, .blocks = true}};
  EXPECT_THAT(why(check_flash_encoder(mixed, 64), ErrorKind::invalid_argument),
              HasSubstr("need bands"));
  for (const int64_t width : {4, 60, 264}) {
    EXPECT_THAT(why(check_flash_encoder(bands, width), ErrorKind::invalid_argument),
                HasSubstr("is " + std::to_string(width)));
  }
  EXPECT_THAT(why(check_flash_device({.device = "cuda"}), ErrorKind::unavailable),
              HasSubstr("the dtype is 'float32'"));
  EXPECT_TRUE(check_flash_capability(8, 0).ok());
  EXPECT_TRUE(check_flash_capability(12, 1).ok());
  EXPECT_THAT(why(check_flash_capability(7, 5), ErrorKind::unavailable), HasSubstr("has 7.5"));
  const auto narrow = network({.led = true})->with_flash_windows();
  EXPECT_THAT(narrow.error().message, HasSubstr("is 4"));
  const auto bart = network({})->with_flash_windows();
  EXPECT_THAT(bart.error().message, HasSubstr("an encoder with windows"));
}

TEST_F(LedWindowsTest, the_flash_pass_refuses_to_be_differentiated) {
  const at::AutoGradMode on(true);
  Layer layer = random_layer(4, 2, 8).to(device_.place, at::kBFloat16);
  const at::Tensor queries = layer.qkv[0].detach().requires_grad_();
  try {
    flash_window_pass(queries, layer.qkv[1], layer.qkv[2], 1);
    FAIL() << "it was computed";
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what_without_backtrace(), HasSubstr("no gradient"));
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
}  // namespace qfs::backbones

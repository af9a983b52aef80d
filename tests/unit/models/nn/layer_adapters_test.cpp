// Adapters of whole layers by themselves: gradients, shapes that do not fit.
#include "methods/models/nn/layer_adapters.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/nn/adapters.h"

namespace qfs::nn {
namespace {

using ::testing::HasSubstr;

/// Gradients of a sum of squares by central differences in float64, for every element.
template <class Make>
void expect_gradients(const std::vector<at::Tensor>& leaves, const Make& make) {
  const auto loss = [&] { return make().square().sum(); };
  for (const at::Tensor& leaf : leaves) leaf.set_requires_grad(true);
  {
    const c10::AutoGradMode with_gradients(true);
    loss().backward();
  }
  const c10::AutoGradMode without_gradients(false);
  constexpr double kStep = 1e-5;
  for (const at::Tensor& leaf : leaves) {
    const at::Tensor flat = leaf.view({-1});
    for (int64_t i = 0; i < flat.numel(); ++i) {
      const double kept = flat[i].item<double>();
      flat[i].fill_(kept + kStep);
      const double above = loss().template item<double>();
      flat[i].fill_(kept - kStep);
      const double below = loss().template item<double>();
      flat[i].fill_(kept);
      EXPECT_NEAR(leaf.grad().view({-1})[i].item<double>(), (above - below) / (2 * kStep), 1e-6);
    }
  }
}

TEST(LayerAdapters, GradientsAreFiniteDifferences) {
  at::manual_seed(3);
  const auto some = [](at::IntArrayRef shape) { return at::randn(shape, at::kDouble); };
  const at::Tensor x = some({3, 8});
  const ParallelMlp mlp = {some({2, 8}), some({2}), some({8, 2}), some({8})};
  expect_gradients({x, mlp.down, mlp.down_bias, mlp.up, mlp.up_bias},
                   [&] { return apply(mlp, x); });
  const at::Tensor queries = some({3, 4, 2});  // 4 heads share 2 of keys
  const PromptHeads prompt = {some({2, 5, 2}), some({2, 5, 2}), some({4})};
  expect_gradients({queries, prompt.keys, prompt.values, prompt.gate},
                   [&] { return prompt_attention(queries, prompt); });
}

TEST(LayerAdapters, AClosedGateAddsNothing) {
  const at::Tensor queries = at::randn({3, 4, 2});
  const PromptHeads prompt = {at::randn({2, 5, 2}), at::randn({2, 5, 2}), at::zeros({4})};
  EXPECT_TRUE(at::equal(prompt_attention(queries, prompt), at::zeros({3, 8})));
}

TEST(LayerAdapters, ThatDoNotFitAreRefused) {
  AdapterPlaces places = {
      .layers = {.layers = 2, .hidden = 8, .heads = 4, .kv_heads = 2, .head_dim = 2},
      .keys_values = [](size_t, const at::Tensor& rows) {
        return at::zeros({2, 2, rows.size(0), 2});
      }};
  const auto refusal = [&](const AdapterSet& set) {
    const auto bound = Adapters::bind(set, places);
    return bound.ok() ? "bound" : bound.error().message;
  };
  const ParallelMlp mlp = {at::zeros({3, 8}), at::zeros({3}), at::zeros({8, 3}), at::zeros({8})};
  EXPECT_EQ(refusal({.mlps = {{1, mlp}}}), "bound");
  EXPECT_THAT(refusal({.mlps = {{2, mlp}}}), HasSubstr("layer 2; the backbone has 2"));
  ParallelMlp other = mlp;
  other.up_bias = at::zeros({9});
  EXPECT_THAT(refusal({.mlps = {{1, other}}}), HasSubstr("last bias of layer 1 is [9]"));
  const PromptRows prompt = {at::zeros({5, 8}), at::zeros({4})};
  EXPECT_EQ(refusal({.prompts = {{0, prompt}}}), "bound");
  EXPECT_THAT(refusal({.prompts = {{0, {at::zeros({5, 8}), at::zeros({3})}}}}),
              HasSubstr("gate of layer 0 is [3]; expected [4]"));
  places.layers = {};
  EXPECT_THAT(refusal({.prompts = {{0, prompt}}}), HasSubstr("LLaMA family"));
}

}  // namespace
}  // namespace qfs::nn

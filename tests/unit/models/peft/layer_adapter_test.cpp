// The tensors of IDEAL's adapters and of its baselines: as many as the paper's Table 3 prints, with
// the values that training begins with.
#include "methods/models/peft/layer_adapter.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/peft/hyper_network.h"
#include "methods/models/peft/infini.h"
#include "methods/models/peft/trained_biases.h"

namespace qfs::peft {
namespace {

using ::testing::HasSubstr;

/// Of Llama-2-7B.
constexpr nn::LayerWidths kLlama7b = {.layers = 32,
                                      .hidden = 4096,
                                      .heads = 32,
                                      .kv_heads = 32,
                                      .head_dim = 128,
                                      .intermediate = 11008};

int64_t count(const LayerAdapterConfig& config) {
  EXPECT_TRUE(check_config(config, kLlama7b).ok());
  return count_elements(tensor_shapes(config, kLlama7b));
}

TEST(LayerAdapter, TrainableParametersAreThoseOfTable3) {
  EXPECT_EQ(count({.kind = AdapterKind::prompt, .size = 10, .first_layer = 2}), 1229760);
  EXPECT_EQ(count({.kind = AdapterKind::parallel_adapter, .size = 16}), 4325888);
  EXPECT_EQ(count({.kind = AdapterKind::lora, .size = 8}), 12255232);
  EXPECT_EQ(count({.kind = AdapterKind::lora, .size = 16}), 24510464);
  EXPECT_EQ(
      count({.kind = AdapterKind::prompt, .size = 10, .first_layer = 2, .hyper = {.layers = 15}}),
      7214976);
  const std::pair<int64_t, int64_t> bottlenecks[] = {
      {16, 15149328}, {32, 25767456}, {64, 47003712}, {128, 89476224}};
  for (const auto& [bottleneck, parameters] : bottlenecks) {
    EXPECT_EQ(
        count({.kind = AdapterKind::parallel_adapter, .size = bottleneck, .hyper = {.layers = 16}}),
        parameters);
  }
  // With w_bias, which no row of the table has: 13.6M.
  EXPECT_EQ(count({.kind = AdapterKind::lora, .size = 8}) + count_elements(bias_shapes(kLlama7b)),
            12255232 + 32 * (3 * 4096 + 2 * 11008) + 65 * 4096);
  // The release counts one placeholder a generated matrix besides: 80.
  EXPECT_EQ(count({.kind = AdapterKind::lora, .size = 8, .hyper = {.layers = 16}}), 24482896 - 80);
}

TEST(LayerAdapter, MemoriesAddTheScalarsOfTheirHeads) {
  nn::DecoderShape shape;
  shape.layers = kLlama7b.layers;
  shape.heads = kLlama7b.heads;
  shape.kv_heads = kLlama7b.kv_heads;
  shape.head_dim = kLlama7b.head_dim;
  const auto scalars = [&](bool query_focused) {
    int64_t sum = 0;
    for (const auto& [name, tensor] : new_memory(shape, 0, query_focused, true, 0)) {
      sum += tensor.numel();
    }
    return sum;
  };
  EXPECT_EQ(12255232 + scalars(false), 12256256);  // LoRA + Inf
  EXPECT_EQ(24482896 + scalars(false), 24483920);  // IDEAL-LoRA + Inf
  EXPECT_EQ(24482896 + scalars(true), 24488048);   // QF-Inf
}

TEST(LayerAdapter, OptionsCountAsTheReleaseDoes) {
  // Rounded as the specification's derivations, of other targets, widths and encoders.
  const auto millions = [](int64_t parameters) {
    return static_cast<double>((parameters + 50000) / 100000) / 10;
  };
  LayerAdapterConfig lora = {.kind = AdapterKind::lora, .size = 8};
  LayerAdapterConfig ideal = {.kind = AdapterKind::lora, .size = 8, .hyper = {.layers = 16}};
  lora.targets = ideal.targets = {"q_proj", "k_proj"};
  EXPECT_DOUBLE_EQ(millions(count(lora)), 4.2);
  EXPECT_DOUBLE_EQ(millions(count(ideal)), 11.6);
  lora.targets = ideal.targets = {"q_proj", "v_proj", "up_proj", "down_proj"};
  EXPECT_DOUBLE_EQ(millions(count(lora)), 11.9);
  EXPECT_DOUBLE_EQ(millions(count(ideal)), 25.3);
  lora.targets = {"q_proj", "k_proj", "v_proj", "o_proj", "up_proj", "down_proj"};
  EXPECT_DOUBLE_EQ(millions(count(lora)), 16.1);
  ideal.targets.clear();
  ideal.hyper.bottleneck = 32;
  EXPECT_DOUBLE_EQ(millions(count(ideal)), 17.1);
  ideal.hyper.bottleneck = 128;
  EXPECT_DOUBLE_EQ(millions(count(ideal)), 39.2);
  ideal.hyper.bottleneck = 64;
  ideal.hyper.encoder = HyperEncoder::common;
  EXPECT_DOUBLE_EQ(millions(count(ideal)), 20.5);
  // The control without what is generated has the lower half of plain LoRA.
  EXPECT_EQ(count({.kind = AdapterKind::lora, .size = 8, .bare_layers = 16}), 12255232 / 2);
}

TEST(LayerAdapter, FirstValuesAreTheReleases) {
  const LayerAdapter adapter = new_layer_adapter(
      {.kind = AdapterKind::lora, .size = 4, .hyper = {.layers = 2}},
      {.layers = 4, .hidden = 64, .heads = 4, .kv_heads = 2, .head_dim = 16, .intermediate = 96},
      7);
  const auto largest = [&](const std::string& name) {
    return adapter.tensors.at(name).abs().max().item<double>();
  };
  const auto expect_bound = [&](const std::string& name, double bound) {
    EXPECT_LE(largest(name), bound * (1 + 1e-6)) << name;
    EXPECT_GT(largest(name), 0.9 * bound) << name;
  };
  expect_bound("llama.layers.1.attention.lora_wq_l1.loralinear.weight",
               1e-4 * std::sqrt(6.0 / (64 + 4)));
  EXPECT_EQ(largest("llama.layers.1.attention.lora_wq_l2.weight"), 0);
  EXPECT_EQ(largest("llama.layers.3.feed_forward.lora_w3_l2.weight"), 0);
  EXPECT_FALSE(adapter.tensors.contains("llama.layers.2.attention.lora_wq_l1.loralinear.weight"));
  expect_bound("lora_hyper_net.encoder.linear0.weight", 1e-3 * std::sqrt(3.0 / (64 * 2 * 64)));
  expect_bound("lora_hyper_net.decoder.q_l1.weight", 1e-3 * std::sqrt(3.0 / (64 * 64 * 4)));
  EXPECT_EQ(largest("lora_hyper_net.decoder.q_l1.bias"), 0);
  EXPECT_TRUE(at::equal(adapter.tensors.at("lora_hyper_net.norm.weight"), at::ones({64})));
  const LayerAdapter parallel =
      new_layer_adapter({.kind = AdapterKind::parallel_adapter, .size = 4, .hyper = {.layers = 2}},
                        adapter.widths, 7);
  const double bias =
      parallel.tensors.at("padapter_hyper_net.decoder.bias_up.weight").abs().max().item<double>();
  EXPECT_NEAR(bias, 1e-3 * std::sqrt(3.0 / 64), 2e-5);
  const at::Tensor rows =
      new_layer_adapter({.kind = AdapterKind::prompt, .size = 40}, adapter.widths, 7)
          .tensors.at("llama.layers.3.attention.prompt");
  EXPECT_NEAR(rows.mean().item<double>(), 0, 0.06);
  EXPECT_NEAR(rows.std().item<double>(), 1, 0.06);
}

TEST(LayerAdapter, ImpossibleOnesAreRefused) {
  const auto refusal = [](const LayerAdapterConfig& config, const nn::LayerWidths& widths) {
    const Status status = check_config(config, widths);
    return status.ok() ? "fine" : status.error().message;
  };
  EXPECT_THAT(refusal({.size = 0}, kLlama7b), HasSubstr("at least 1"));
  EXPECT_THAT(refusal({.targets = {"q_prj"}}, kLlama7b), HasSubstr("'q_proj'"));
  EXPECT_THAT(refusal({.hyper = {.layers = 33}}, kLlama7b), HasSubstr("the backbone has 32"));
  EXPECT_THAT(refusal({.bare_layers = 32}, kLlama7b), HasSubstr("the backbone has 32"));
  EXPECT_EQ(refusal({.hyper = {.layers = 32}}, kLlama7b), "fine");
  EXPECT_THAT(refusal({}, {}), HasSubstr("LLaMA family"));
}

TEST(HyperNetwork, DropsInputsOfAllLayersTogetherAndTheirEncodingsApart) {
  const nn::LayerWidths widths = {
      .layers = 4, .hidden = 32, .heads = 2, .kv_heads = 1, .head_dim = 16, .intermediate = 48};
  LayerAdapter adapter = new_layer_adapter(
      {.kind = AdapterKind::prompt, .size = 1, .hyper = {.layers = 2, .bottleneck = 32}}, widths,
      7);
  // What is generated is what the encoder gives, which is what it reads.
  const at::Tensor same = at::eye(32);
  const auto set = [&](const std::string& name, const at::Tensor& value) {
    at::Tensor& tensor = adapter.tensors.at(adapter.hyper_prefix() + name);
    tensor = value.view(tensor.sizes()).clone();
  };
  set("norm.weight", at::ones({32}));
  set("encoder.linear0.weight", at::cat({same, same}));
  set("encoder.linear0.bias", at::zeros({64}));
  set("decoder.prompt_weight.weight", same);
  set("decoder.prompt_weight.bias", at::zeros({32}));
  const auto made = [&](int64_t layer, std::optional<Rng> drop) {
    return generate(adapter, at::ones({32}), layer, std::move(drop)).at("prompt_weight").flatten();
  };
  EXPECT_TRUE(at::allclose(made(0, {}), at::ones({32}), 1e-4, 1e-4)) << "prediction drops nothing";
  constexpr int kDraws = 500;
  double zeros = 0;
  double both = 0;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Rng drop = Rng::derived(3, "drop", static_cast<uint64_t>(i));
    const at::Tensor first = made(0, drop);
    const at::Tensor second = made(1, drop);
    zeros += (first == 0).sum().item<double>();
    both += ((first == 0) & (second == 0)).sum().item<double>();
    sum += first.sum().item<double>();
  }
  const double elements = kDraws * 32;
  EXPECT_NEAR(zeros / elements, 1 - 0.95 * 0.95, 0.01);
  EXPECT_NEAR(both / elements, 0.05 + 0.95 * 0.05 * 0.05, 0.008) << "inputs are dropped for both";
  EXPECT_NEAR(sum / elements, 1, 0.02) << "what is left is as much larger";
}

}  // namespace
}  // namespace qfs::peft

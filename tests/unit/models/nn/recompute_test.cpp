// Losses in chunks and layers that are computed again give the gradients of plain autograd.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/bart/bart.h"
#include "methods/models/architectures/gpt2/gpt2.h"
#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/nn/dropout.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/token_loss.h"
#include "methods/models/nn/trained_weights.h"
#include "methods/models/peft/lora.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::nn {
namespace {

using nlohmann::json;

class RecomputeTest : public ::testing::Test {
 protected:
  RecomputeTest() { EXPECT_TRUE(configure_torch({}).ok()); }

  checkpoints::ModelDirectory directory(const std::string& kind, size_t index) {
    std::ifstream file("tests/conformance/models/architectures/tiny_" + kind + "_expected.json");
    auto opened = checkpoints::ModelDirectory::open(
        qfs::test::write_tiny_checkpoint(folder_, json::parse(file).at("cases").at(index)));
    EXPECT_TRUE(opened.ok());
    return *std::move(opened);
  }

  /// Of unequal length, with the labels of both.
  static std::pair<std::vector<SequenceInput>, std::vector<int64_t>> two_inputs(
      const Decoder& decoder, bool global) {
    std::vector<SequenceInput> inputs = {{.ids = {0, 3, 9, 12, 7, 2}}, {.ids = {0, 5, 21, 2}}};
    std::vector<int64_t> labels;
    for (SequenceInput& input : inputs) {
      if (decoder.shape().sequence.encoder_decoder()) {
        input.decoder_ids = {2, 0, 11, 8, 6};
        input.dropout = std::make_shared<Dropout>(DropoutRates{0.3, 0.3, 0.3}, input.ids.size());
      }
      if (global)
        input.global_positions = inputs.front().global_positions.empty()
                                     ? std::vector<int64_t>{0, 3}
                                     : std::vector<int64_t>{0};
      const size_t count = begun_with(input, decoder.shape().sequence).size();
      for (size_t i = 0; i < count; ++i) {
        labels.push_back(i < 2 ? kNoLabel : static_cast<int64_t>(3 * i + 1));
      }
    }
    return {std::move(inputs), std::move(labels)};
  }

  static at::Tensor summed(const Linear& head, const at::Tensor& states,
                           const std::vector<int64_t>& labels, bool chunked) {
    if (chunked)
      return *summed_token_loss(head, states, labels, {.chunk_bytes = 1});  // a row at a time
    const auto counted = static_cast<double>(labels.size()) -
                         static_cast<double>(std::ranges::count(labels, kNoLabel));
    return *token_loss(apply(head, states), labels) * counted;
  }

  /// All weights trained, the head and tables among them.
  static void expect_equal_weight_gradients(const Decoder& decoder, bool global = false) {
    WeightsByName leaves;
    for (const auto& [name, weight] : weights_of(decoder)) {
      leaves[name] = weight.clone().set_requires_grad(true);
    }
    const auto [inputs, labels] = two_inputs(decoder, global);
    const auto gradients = [&](Recompute recompute, bool chunked) {
      const auto trained = with_weights(decoder, leaves);
      const auto states = sequence_states(*trained, inputs, recompute);
      EXPECT_TRUE(states.ok()) << states.error().to_string();
      // Thrice the loss: what is above it has to reach the head, too.
      (summed(trained->head(), *states, labels, chunked) * 3).backward();
      WeightsByName found;
      for (auto& [name, leaf] : leaves) {
        if (leaf.grad().defined()) found[name] = leaf.grad().clone();
        leaf.mutable_grad() = at::Tensor();
      }
      return found;
    };
    const auto plain = gradients(Recompute::nothing, false);
    EXPECT_EQ(plain.size(), leaves.size());
    for (const auto& [recompute, chunked] :
         {std::pair(Recompute::nothing, true), std::pair(Recompute::layers, false),
          std::pair(Recompute::layers, true)}) {
      const auto other = gradients(recompute, chunked);
      ASSERT_EQ(other.size(), plain.size());
      for (const auto& [name, gradient] : plain) {
        const double most = gradient.abs().max().item<double>();
        EXPECT_LT((other.at(name) - gradient).abs().max().item<double>(), 1e-5 * most + 1e-6)
            << name;
      }
    }
  }

  /// Every linear layer adapted, with both matrices random; two inputs of unequal length.
  void expect_equal_gradients(const Decoder& decoder, bool global = false) {
    at::manual_seed(3);
    LowRankByName layers;
    for (const AdapterTarget& target : adapter_targets(decoder)) {
      for (const FusedPart& layer : target.layers) {
        layers[layer.name] = {(at::randn({2, target.inputs}) * 0.2).set_requires_grad(true),
                              (at::randn({layer.outputs, 2}) * 0.2).set_requires_grad(true), 0.5};
      }
    }
    auto [inputs, labels] = two_inputs(decoder, global);
    const auto gradients = [&](Recompute recompute, bool chunked) {
      const auto adapters = bind_adapters({.linears = layers}, decoder);
      EXPECT_TRUE(adapters.ok());
      for (SequenceInput& input : inputs) input.adapters = *adapters;
      const auto states = sequence_states(decoder, inputs, recompute);
      EXPECT_TRUE(states.ok()) << states.error().to_string();
      const at::Tensor loss = summed(decoder.head(), *states, labels, chunked);
      loss.backward();
      std::vector<at::Tensor> found = {loss.detach()};
      for (auto& [name, added] : layers) {
        for (at::Tensor* matrix : {&added.down, &added.up}) {
          found.push_back(matrix->grad().clone());
          matrix->mutable_grad() = at::Tensor();
        }
      }
      return found;
    };
    const auto plain = gradients(Recompute::nothing, false);
    ASSERT_GE(plain.size(), 9U);
    for (const auto& [recompute, chunked] :
         {std::pair(Recompute::nothing, true), std::pair(Recompute::layers, true)}) {
      const auto other = gradients(recompute, chunked);
      for (size_t i = 0; i < plain.size(); ++i) {
        EXPECT_GT(plain[i].abs().max().item<double>(), 1e-6) << i;
        EXPECT_TRUE(at::allclose(other[i], plain[i], 1e-4, 1e-6)) << i;
      }
    }
  }

  qfs::test::TemporaryFolder folder_;
};

TEST_F(RecomputeTest, gradients_of_llama) {
  const auto weights = architectures::load_llama_weights(directory("llama", 0));
  ASSERT_TRUE(weights.ok()) << weights.error().to_string();
  const auto tensors = architectures::copy_to_device(**weights, at::kCPU, at::kFloat);
  const auto decoder = architectures::make_llama_decoder(*tensors);
  expect_equal_gradients(*decoder);
  expect_equal_weight_gradients(*decoder);
}

TEST_F(RecomputeTest, gradients_of_gpt2) {
  const auto decoder = architectures::load_gpt2_decoder(directory("gpt2", 0));
  ASSERT_TRUE(decoder.ok()) << decoder.error().to_string();
  expect_equal_gradients(**decoder);
  expect_equal_weight_gradients(**decoder);
}

TEST_F(RecomputeTest, gradients_of_bart_and_led) {
  const auto bart = architectures::load_bart_weights(directory("seq2seq", 0));
  ASSERT_TRUE(bart.ok()) << bart.error().to_string();
  expect_equal_gradients(*architectures::make_bart_decoder(*bart));
  expect_equal_weight_gradients(*architectures::make_bart_decoder(*bart));
  const auto led = architectures::load_bart_weights(directory("seq2seq", 7));
  ASSERT_TRUE(led.ok()) << led.error().to_string();
  ASSERT_FALSE((*led)->config.windows.empty());
  expect_equal_gradients(*architectures::make_bart_decoder(*led), true);
  expect_equal_weight_gradients(*architectures::make_bart_decoder(*led), true);
}

TEST_F(RecomputeTest, without_gradients_nothing_is_kept) {
  const auto decoder = architectures::load_gpt2_decoder(directory("gpt2", 0));
  const SequenceInput input = {.ids = {1, 2, 3}};
  const auto states = sequence_states(**decoder, {&input, 1}, Recompute::layers);
  ASSERT_TRUE(states.ok());
  EXPECT_FALSE(states->requires_grad());
}

}  // namespace
}  // namespace qfs::nn

// DYLE's losses and gradients in float64 against values that make_dyle_expected.py computes from
// the formulas, and, on a tiny generator, against plain autograd over all logits.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/child_process.h"
#include "harness/core/sha256.h"
#include "methods/dyle/session_losses.h"
#include "methods/dyle/session_model.h"
#include "methods/dyle/spec.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/token_loss.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_checkpoint.h"
#include "tests/support/tiny_llama.h"

namespace qfs::dyle {
namespace {

using nlohmann::json;

json expected() {
  std::ifstream file("tests/conformance/dyle/dyle_expected.json");
  return json::parse(file);
}

at::Tensor doubles(const std::string& name, at::IntArrayRef shape, float scale) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  const std::vector<float> values = test::tiny_values(name, count, scale, 0);
  return at::tensor(values).to(at::kDouble).view(shape);
}

at::Tensor leaf(const std::string& name, at::IntArrayRef shape, float scale) {
  return doubles(name, shape, scale).set_requires_grad(true);
}

Settings settings_of(bool released, bool is_static) {
  Params params;
  for (const ParamSpec& param : DyleSpec().params()) {
    if (param.default_value) params.set(param.name, *param.default_value);
  }
  params.set("profile", std::string(released ? "released" : "paper"));
  params.set("prior", std::string(is_static ? "static" : "dynamic"));
  return Settings(params);
}

void expect_near(const at::Tensor& actual, const json& wanted, const std::string& what) {
  const std::vector<double> values = wanted;
  if (!actual.defined()) {
    for (const double value : values) EXPECT_NEAR(value, 0, 1e-9) << what;
    return;
  }
  const at::Tensor flat = actual.contiguous().flatten();
  ASSERT_EQ(flat.numel(), static_cast<int64_t>(values.size())) << what;
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(flat.const_data_ptr<double>()[i], values[i], 1e-6) << what << " " << i;
  }
}

TEST(DyleLosses, values_and_gradients_are_those_of_the_formulas) {
  const c10::AutoGradMode gradients(true);
  const json file = expected();
  const int64_t d = file["hidden"];
  for (const json& one : file["cases"]) {
    SCOPED_TRACE(one["name"].get<std::string>());
    const std::vector<int64_t> labels = one["labels"];
    const Selection selection{one["snippets"], one["copies"]};
    const auto k = static_cast<int64_t>(selection.snippets.size());
    const auto t = static_cast<int64_t>(labels.size());
    const at::Tensor states = leaf("states", {k, t, d}, 2);
    const at::Tensor scores = leaf("scores", {file["visible"].get<int64_t>()}, one["scale"]);
    DyleTensors tensors;
    for (const char* layer : {"0", "2", "4"}) {
      const std::string name = std::string("rag.dynamic_mlp.") + layer;
      const int64_t outputs = *layer == '4' ? 1 : d;
      tensors.gate[name + ".weight"] = leaf(name + ".weight", {outputs, d}, 1);
      tensors.gate[name + ".bias"] = leaf(name + ".bias", {outputs}, 1);
    }
    const nn::Linear head{doubles("head", {file["vocabulary"].get<int64_t>(), d}, 1)};
    ReadTarget read;
    read.states = states;
    std::vector<int64_t> wanted;
    for (int64_t i = 0; i < t; ++i) {
      if (labels[static_cast<size_t>(i)] != nn::kNoLabel) read.labelled.push_back(i);
    }
    for (int64_t i = 0; i < k; ++i) {
      for (const int64_t at : read.labelled) wanted.push_back(labels[static_cast<size_t>(at)]);
    }
    const at::Tensor labelled = states.index_select(1, at::tensor(read.labelled)).flatten(0, 1);
    // Two rows of logits at a time.
    const auto logarithms = nn::label_log_probabilities(head, labelled, wanted, 60);
    ASSERT_TRUE(logarithms.ok());
    read.log_probabilities = logarithms->view({k, -1});
    const Losses losses = losses_of(settings_of(one["released"], one["static"]), tensors, scores,
                                    one["oracle"].get<std::vector<int64_t>>(), selection, read,
                                    one["prior_gradients"]);
    EXPECT_NEAR(losses.generation.item<double>(), one["losses"]["generation"], 1e-9);
    EXPECT_NEAR(losses.oracle.item<double>(), one["losses"]["oracle"], 1e-9);
    EXPECT_NEAR(losses.consistency.item<double>(), one["losses"]["consistency"], 1e-9);
    (losses.generation * 0.5 + losses.oracle * 1.5 + losses.consistency * 2).backward();
    expect_near(states.grad(), one["gradients"]["states"], "states");
    expect_near(scores.grad(), one["gradients"]["scores"], "scores");
    for (const auto& [name, tensor] : tensors.gate) {
      expect_near(tensor.grad(), one["gradients"][name], name);
    }
  }
}

class DyleGradients : public ::testing::Test {
 protected:
  DyleGradients() {
    ::setenv("QFS_CACHE_DIR", folder_.path().c_str(), 1);
    EXPECT_TRUE(nn::configure_torch({}).ok());
    const std::string bytes = test::TinyLlama().bytes();
    backbone_ =
        *architectures::open_backbone({"tiny", folder_.write("m.gguf", bytes), sha256_hex(bytes)});
    ResourceCache cache;
    decoder_ = *(*backbone_->network->decoder({}, "", cache))->copy_to(at::kCPU, at::kDouble);
    tensors_.gate = new_gate(32, 1);
    for (auto& [name, tensor] : tensors_.gate) {
      tensor = tensor.to(at::kDouble).set_requires_grad(true);
    }
    const auto layers = peft::adaptable_layers(*decoder_);
    tensors_.generator =
        *peft::new_lora(layers, {.rank = 2, .alpha = 2, .targets = {"q_proj", "up_proj"}}, 3);
    for (auto& [name, added] : tensors_.generator.layers) {
      added.down = added.down.to(at::kDouble).set_requires_grad(true);
      added.up = doubles(name, added.up.sizes(), 0.2F).set_requires_grad(true);
    }
    for (int32_t k = 0; k < 3; ++k)
      rows_.inputs.push_back({.ids = test::some_tokens(3 + k, k + 1)});
    const std::vector<int32_t> words = test::some_tokens(4, 9);
    target_.begun = words;
    target_.labels.assign(words.begin(), words.end());
    target_.labels.push_back(test::TinyLlama::kEnd);
  }

  std::shared_ptr<const nn::Adapters> bound() const {
    return *nn::bind_adapters({.linears = tensors_.generator.layers}, *decoder_);
  }

  /// The loss of the mixture by all logits.
  at::Tensor plain() const {
    std::vector<at::Tensor> sums;
    std::vector<at::Tensor> gates;
    for (nn::SequenceInput input : rows_.inputs) {
      const auto before = static_cast<int64_t>(input.ids.size()) - 1;
      input.ids.insert(input.ids.end(), target_.begun.begin(), target_.begun.end());
      input.adapters = bound();
      const at::Tensor states =
          nn::sequence_states(*decoder_, {&input, 1})
              ->narrow(0, before, static_cast<int64_t>(target_.labels.size()));
      const at::Tensor logits = at::log_softmax(nn::apply(decoder_->head(), states), 1);
      sums.push_back(
          logits.gather(1, at::tensor(target_.labels).unsqueeze(1)).squeeze(1).unsqueeze(0));
      gates.push_back(gate_logits(tensors_.gate, states).unsqueeze(0));
    }
    const at::Tensor prior = at::cat(gates).softmax(0);
    return -(at::cat(sums).exp() * prior).sum(0).log().sum();
  }

  std::vector<at::Tensor> leaves() const {
    std::vector<at::Tensor> all;
    for (const auto& [name, tensor] : tensors_.gate) all.push_back(tensor);
    for (const auto& [name, added] : tensors_.generator.layers) {
      all.push_back(added.down);
      all.push_back(added.up);
    }
    return all;
  }
  std::vector<at::Tensor> gradients_of(const at::Tensor& loss) const {
    for (at::Tensor& one : std::vector<at::Tensor>(leaves())) one.mutable_grad() = at::Tensor();
    loss.backward();
    std::vector<at::Tensor> all;
    for (const at::Tensor& one : leaves()) {
      EXPECT_TRUE(one.grad().defined());
      all.push_back(one.grad().clone());
    }
    return all;
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<const architectures::Backbone> backbone_;
  std::shared_ptr<const nn::Decoder> decoder_;
  DyleTensors tensors_;
  GeneratorRows rows_;
  Target target_;
};

TEST_F(DyleGradients, of_chunked_losses_are_those_of_plain_autograd) {
  const c10::AutoGradMode gradients(true);
  const at::Tensor scores = leaf("scores", {5}, 2);
  const Selection selection{{3, 0, 4}, 0};
  for (const auto recompute : {nn::Recompute::nothing, nn::Recompute::layers}) {
    GeneratorRows rows = rows_;
    for (nn::SequenceInput& input : rows.inputs) input.adapters = bound();
    const auto read = read_target(*decoder_, rows, target_, recompute);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    const Losses losses = losses_of(settings_of(false, false), tensors_, scores,
                                    std::vector<int64_t>{1}, selection, *read, false);
    const at::Tensor reference = plain();
    EXPECT_NEAR(losses.generation.item<double>(), reference.item<double>(), 1e-6);
    const auto own = gradients_of(losses.generation);
    EXPECT_FALSE(scores.grad().defined());  // the generator's loss does not reach the extractor
    const auto wanted = gradients_of(reference);
    for (size_t i = 0; i < own.size(); ++i) {
      EXPECT_LT((own[i] - wanted[i]).abs().max().item<double>(), 1e-6) << i;
      EXPECT_GT(wanted[i].abs().max().item<double>(), 0) << i;
    }
  }
}

TEST_F(DyleGradients, consistency_reaches_the_extractor_alone) {
  const c10::AutoGradMode gradients(true);
  const at::Tensor scores = leaf("scores", {5}, 2);
  GeneratorRows rows = rows_;
  for (nn::SequenceInput& input : rows.inputs) input.adapters = bound();
  const auto read = read_target(*decoder_, rows, target_, nn::Recompute::nothing);
  const Losses losses =
      losses_of(settings_of(false, false), tensors_, scores, {}, {{3, 0, 4}, 0}, *read, false);
  losses.consistency.backward();
  EXPECT_TRUE(scores.grad().defined());
  for (const at::Tensor& one : leaves()) EXPECT_FALSE(one.grad().defined());
}

TEST(DyleLosses, consistencys_gradients_by_scores_are_what_differences_say) {
  const c10::AutoGradMode gradients(true);
  const at::Tensor gate = doubles("gate", {3, 4}, 2);
  const Selection selection{{4, 0, 3}, 0};
  const at::Tensor scores = leaf("scores", {6}, 2);
  consistency_loss(gate, scores, selection).backward();
  constexpr double kStep = 1e-5;
  for (int64_t i = 0; i < scores.numel(); ++i) {
    const auto moved = [&](double by) {
      at::Tensor other = scores.detach().clone();
      other[i] += by;
      return consistency_loss(gate, other, selection).item<double>();
    };
    const double difference = (moved(kStep) - moved(-kStep)) / (2 * kStep);
    EXPECT_NEAR(scores.grad()[i].item<double>(), difference, 1e-8) << i;
    const bool selected = std::ranges::count(selection.snippets, i) > 0;
    EXPECT_EQ(std::abs(difference) > 1e-3, selected) << i;
  }
}

/// Hand-made so that the gate's logit of a snippet is its score, whatever the position.
TEST(DyleMixture, a_gate_that_says_the_scores_is_the_static_prior) {
  const c10::AutoGradMode gradients(true);
  constexpr int64_t kSnippets = 3;
  constexpr int64_t kPositions = 4;
  constexpr int64_t kWidth = 5;
  const at::Tensor scores = doubles("scores", {6}, 2);
  const Selection selection{{4, 0, 3}, 0};
  const at::Tensor selected = scores.index_select(0, at::tensor(selection.snippets));
  at::Tensor values = doubles("states", {kSnippets, kPositions, kWidth}, 2);
  // ReLUs pass what is above 0; a softmax does not see what all have in common.
  values.select(2, 0).copy_((selected + 10).unsqueeze(1).expand({kSnippets, kPositions}));
  DyleTensors tensors;
  for (const char* layer : {"0", "2", "4"}) {
    const std::string name = std::string("rag.dynamic_mlp.") + layer;
    at::Tensor weight = at::zeros({*layer == '4' ? 1 : kWidth, kWidth}, at::kDouble);
    weight[0][0] = 1;
    tensors.gate[name + ".weight"] = weight;
    tensors.gate[name + ".bias"] = at::zeros({weight.size(0)}, at::kDouble);
  }
  const nn::Linear head{doubles("head", {7, kWidth}, 1)};
  const std::vector<int64_t> labels = {2, 6, 0, 5};
  const auto of_prior = [&](bool is_static) {
    ReadTarget read;
    read.states = values.clone().set_requires_grad(true);
    read.labelled = {0, 1, 2, 3};
    std::vector<int64_t> wanted;
    for (int64_t k = 0; k < kSnippets; ++k) {
      wanted.insert(wanted.end(), labels.begin(), labels.end());
    }
    const auto logarithms = nn::label_log_probabilities(head, read.states.flatten(0, 1), wanted);
    EXPECT_TRUE(logarithms.ok());
    read.log_probabilities = logarithms->view({kSnippets, kPositions});
    const Losses losses =
        losses_of(settings_of(false, is_static), tensors, scores, {}, selection, read, false);
    losses.generation.backward();
    // What the gate itself reads has a gradient of the gate's, too.
    return std::pair(losses, read.states.grad().narrow(2, 1, kWidth - 1).clone());
  };
  const auto [fixed, of_fixed] = of_prior(true);
  const auto [dynamic, of_dynamic] = of_prior(false);
  EXPECT_NEAR(fixed.generation.item<double>(), dynamic.generation.item<double>(), 1e-9);
  EXPECT_LT((of_fixed - of_dynamic).abs().max().item<double>(), 1e-9);
  EXPECT_GT(of_fixed.abs().max().item<double>(), 1e-3);
  // Gate and extractor agree.
  EXPECT_NEAR(dynamic.consistency.item<double>(), 0, 1e-9);
  tensors.gate["rag.dynamic_mlp.4.weight"].mul_(2);
  EXPECT_GT(
      std::abs(of_prior(false).first.generation.item<double>() - fixed.generation.item<double>()),
      1e-3);
}

/// Four elements a state instead of BART's 1024: what is measured are the logits, whose number does
/// not depend on it, and their products would take minutes. With a frozen head and with a trained
/// one, whose gradient is of all rows.
TEST(DyleMixture, a_published_size_takes_a_twentieth_of_its_logits) {
  const c10::AutoGradMode gradients(true);
  constexpr int64_t kRows = 25 * 900;  // snippets, positions of GovReport's summaries
  constexpr int64_t kVocabulary = 50265;
  nn::Linear head{doubles("head", {kVocabulary, 4}, 1).to(at::kFloat)};
  const at::Tensor states = doubles("states", {kRows, 4}, 2).to(at::kFloat).set_requires_grad(true);
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < kRows; ++i) labels.push_back(i * 7919 % kVocabulary);
  const at::Tensor gate = at::log_softmax(doubles("gate", {25, 900}, 3).to(at::kFloat), 0);
  const int64_t before = process_memory(getpid()).peak_bytes;
  at::Tensor loss;
  Result<at::Tensor> logarithms = at::Tensor();
  at::Tensor of_frozen_head;
  for (const bool trained : {false, true}) {
    head.weight.set_requires_grad(trained);
    if (trained) of_frozen_head = states.grad().clone();
    states.mutable_grad() = at::Tensor();
    logarithms = nn::label_log_probabilities(head, states, labels);
    ASSERT_TRUE(logarithms.ok());
    loss = -mixed(logarithms->view({25, 900}), gate).sum();
    loss.backward();
    const int64_t taken = process_memory(getpid()).peak_bytes - before;
    EXPECT_LT(taken, kRows * kVocabulary * 4 / 20) << (trained ? "trained head" : "frozen head");
  }
  // Sums over the vocabulary, in other orders.
  const float most = 1e-4F * of_frozen_head.abs().max().item<float>();
  EXPECT_LT((states.grad() - of_frozen_head).abs().max().item<float>(), most);
  EXPECT_GT(head.weight.grad().abs().max().item<float>(), 1e-2);
  head.weight.set_requires_grad(false);

  // All of them in full, a snippet's at a time.
  const at::Tensor wanted = at::tensor(labels).view({25, 900, 1});
  const auto in_full = [&](const at::Tensor& some, int64_t snippet) {
    return at::log_softmax(nn::apply(head, some), 1).gather(1, wanted[snippet]).squeeze(1);
  };
  const at::Tensor read = states.detach().view({25, 900, 4});
  at::Tensor full = at::empty({25, 900});
  for (int64_t k = 0; k < 25; ++k) full[k] = in_full(read[k], k);
  EXPECT_LT((logarithms->view({25, 900}) - full).abs().max().item<float>(), 1e-5);
  full.set_requires_grad(true);
  const at::Tensor full_loss = -mixed(full, gate).sum();
  full_loss.backward();
  EXPECT_NEAR(loss.item<float>() / full_loss.item<float>(), 1, 1e-6);
  for (const int64_t k : {0, 11, 24}) {
    const at::Tensor some = read[k].clone().set_requires_grad(true);
    in_full(some, k).backward(full.grad()[k]);
    const at::Tensor found = states.grad().view({25, 900, 4})[k];
    EXPECT_LT((found - some.grad()).abs().max().item<float>(), most) << k;
  }
}

TEST(DyleMixture, one_snippet_is_the_generator_and_even_weights_the_mean) {
  const at::Tensor logs = doubles("logs", {3, 4}, 2);
  const at::Tensor one = logs.narrow(0, 0, 1);
  EXPECT_TRUE(at::allclose(mixed(one, at::zeros({1, 1}, at::kDouble)), one.squeeze(0)));
  const at::Tensor even = at::full({3, 1}, -std::log(3.0), at::kDouble);
  EXPECT_TRUE(at::allclose(mixed(logs, even), logs.exp().mean(0).log()));
}

}  // namespace
}  // namespace qfs::dyle

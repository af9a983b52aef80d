// Gradients of all weights of DYLE's two models in float64, by both profiles, against plain
// autograd over all logits and against differences of the loss.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "methods/dyle/session_losses.h"
#include "methods/dyle/session_model.h"
#include "methods/dyle/spec.h"
#include "methods/models/architectures/bert/encoder_folder.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/token_loss.h"
#include "methods/models/nn/trained_weights.h"
#include "methods/models/registry/registry.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_checkpoint.h"
#include "tests/support/tiny_encoder.h"
#include "tests/support/tiny_seq2seq.h"

namespace qfs::dyle {
namespace {

/// A BART that generates and a RoBERTa that extracts.
class DyleWeights : public ::testing::TestWithParam<bool> {
 protected:
  DyleWeights() {
    ::setenv("QFS_CACHE_DIR", cache_folder_.path().c_str(), 1);
    EXPECT_TRUE(nn::configure_torch({}).ok());
    auto backbone = architectures::open_backbone(
        *registry::resolve_backbone(test::TinySeq2Seq().write(generator_folder_)), cache_);
    EXPECT_TRUE(backbone.ok()) << backbone.error().to_string();
    backbone_ = *backbone;
    const auto decoder = backbone_->network->decoder({}, "", cache_);
    decoder_ = *(*decoder)->copy_to(at::kCPU, at::kDouble);
    scorer_ = in_doubles(test::TinyEncoder{.roberta = true}.write(extractor_folder_));
    for (const auto& [name, weight] : nn::weights_of(*decoder_)) {
      tensors_.generator_weights[name] = leaf(weight);
    }
    for (const auto& [name, weight] : scorer_->weights()) {
      tensors_.extractor.weights[name] = leaf(weight);
    }
    ranking::add_linear("classifier", 1, scorer_->width(), 3, tensors_.extractor.head);
    for (auto& [name, tensor] : tensors_.extractor.head) tensor = leaf(tensor);
    tensors_.gate = new_gate(decoder_->hidden(), 1);
    for (auto& [name, tensor] : tensors_.gate) tensor = leaf(tensor);
    for (int32_t k = 0; k < 3; ++k) {
      std::vector<int32_t> ids = {0};
      for (int32_t i = 0; i < 4 + k; ++i) ids.push_back(40 + 7 * k + i);
      ids.push_back(2);
      rows_.inputs.push_back({.ids = ids});
    }
  }

  static at::Tensor leaf(const at::Tensor& values) {
    return values.detach().to(at::kDouble).clone().set_requires_grad(true);
  }

  std::shared_ptr<const ranking::SnippetScorer> in_doubles(const Resource& model) {
    auto folder = architectures::open_encoder_folder(model, {"roberta"}, cache_);
    auto weights = std::make_shared<architectures::EncoderWeights>(*folder->weights);
    const Status copied = nn::copy_weights(at::kCPU, at::kDouble, [&](nn::WeightVisitor& visitor) {
      visit_weights(*weights, "embeddings.word_embeddings", visitor);
    });
    EXPECT_TRUE(copied.ok());
    return std::make_shared<ranking::SnippetScorer>(std::move(weights), folder->tokenizer);
  }

  Settings settings() const {
    Params params;
    for (const ParamSpec& param : DyleSpec().params()) {
      if (param.default_value) params.set(param.name, *param.default_value);
    }
    params.set("profile", std::string(GetParam() ? "released" : "paper"));
    return Settings(params);
  }

  Target target() const {
    return decoder_target(*backbone_->tokenizer, "a hat", backbone_->network->shape().decoder_start,
                          GetParam(), 1, 10);
  }

  at::Tensor scores(const DyleTensors& tensors) const {
    const auto over = scorer_->over(tensors.extractor.weights);
    const auto packed =
        over->pack("hat", {{{{"a hat"}}}, {{{"no"}}}, {{{"yes or no"}}}}, {48, 4, GetParam()});
    const auto scored = over->scores(*packed, tensors.extractor.head, nullptr);
    EXPECT_TRUE(scored.ok()) << scored.error().to_string();
    return *scored;
  }

  /// 0.5 times the generator's loss, 1.5 the oracle's, twice the consistency.
  at::Tensor loss(const DyleTensors& tensors, nn::Recompute recompute) {
    trained_ = nn::with_weights(*decoder_, tensors.generator_weights);
    const auto read = read_target(*trained_, rows_, target(), recompute);
    EXPECT_TRUE(read.ok()) << read.error().to_string();
    const Losses losses =
        losses_of(settings(), tensors, scores(tensors), kOracle, kSelection, *read, false);
    return losses.generation * 0.5 + losses.oracle * 1.5 + losses.consistency * 2;
  }

  /// The same by all logits, from the formulas of the paper.
  at::Tensor plain(const DyleTensors& tensors) const {
    const auto decoder = nn::with_weights(*decoder_, tensors.generator_weights);
    const Target learned = target();
    std::vector<int64_t> labelled;
    for (size_t t = 0; t < learned.labels.size(); ++t) {
      if (learned.labels[t] != nn::kNoLabel) labelled.push_back(static_cast<int64_t>(t));
    }
    std::vector<at::Tensor> of_rows;
    std::vector<at::Tensor> gates;
    for (nn::SequenceInput input : rows_.inputs) {
      input.decoder_ids = learned.begun;
      const at::Tensor states = *nn::sequence_states(*decoder, {&input, 1});
      const at::Tensor logits = at::linear(states, decoder->head().weight, decoder->head().bias);
      std::vector<at::Tensor> steps;
      for (const int64_t t : labelled) {
        const at::Tensor step = logits[t];
        steps.push_back(step[learned.labels[static_cast<size_t>(t)]] - step.logsumexp(0));
      }
      of_rows.push_back(at::stack(steps));
      gates.push_back(gate_logits(tensors.gate, states));
    }
    const at::Tensor gate = at::stack(gates);  // [K, T]
    const at::Tensor own = gate.index_select(1, at::tensor(labelled));
    const at::Tensor generation = -(at::stack(of_rows).exp() * own.softmax(0)).sum(0).log().sum();
    const at::Tensor scored = scores(tensors);
    at::Tensor oracle = at::zeros({}, at::kDouble);
    for (const int64_t i : kOracle) oracle = oracle + scored.logsumexp(0) - scored[i];
    oracle = oracle / static_cast<double>(kOracle.size());
    const at::Tensor g = (GetParam() ? gate : own).softmax(0).mean(1).detach();
    const at::Tensor r = scored.index_select(0, at::tensor(kSelection.snippets)).softmax(0);
    return generation * 0.5 + oracle * 1.5 + (g * (g.log() - r.log())).sum() * 2;
  }

  std::map<std::string, at::Tensor> gradients_of(const at::Tensor& value) const {
    for (auto& [name, one] : tensors_.all()) at::Tensor(one).mutable_grad() = at::Tensor();
    value.backward();
    std::map<std::string, at::Tensor> found;
    for (const auto& [name, one] : tensors_.all()) {
      EXPECT_TRUE(one.grad().defined()) << name;
      found[name] = one.grad().clone();
    }
    return found;
  }

  inline static const std::vector<int64_t> kOracle = {2, 0};
  inline static const Selection kSelection = {{1, 2, 0}, 0};

  const test::TemporaryFolder cache_folder_;
  const test::TemporaryFolder generator_folder_;
  const test::TemporaryFolder extractor_folder_;
  ResourceCache cache_;
  std::shared_ptr<const architectures::Backbone> backbone_;
  std::shared_ptr<const nn::Decoder> decoder_;
  std::shared_ptr<const nn::Decoder> trained_;  ///< which gradients may compute again
  std::shared_ptr<const ranking::SnippetScorer> scorer_;
  DyleTensors tensors_;
  GeneratorRows rows_;
};

TEST_P(DyleWeights, have_the_gradients_of_plain_autograd) {
  const c10::AutoGradMode gradients(true);
  const at::Tensor reference = plain(tensors_);
  const auto wanted = gradients_of(reference);
  for (const auto recompute : {nn::Recompute::nothing, nn::Recompute::layers}) {
    const at::Tensor own = loss(tensors_, recompute);
    EXPECT_NEAR(own.item<double>(), reference.item<double>(), 1e-8);
    const auto found = gradients_of(own);
    ASSERT_EQ(found.size(), wanted.size());
    for (const auto& [name, gradient] : found) {
      EXPECT_LT((gradient - wanted.at(name)).abs().max().item<double>(), 1e-7) << name;
    }
  }
  // Every weight of both models is among them.
  EXPECT_EQ(wanted.size(), tensors_.generator_weights.size() + tensors_.extractor.weights.size() +
                               tensors_.gate.size() + 2);
}

TEST_P(DyleWeights, with_one_snippet_learn_what_bart_alone_learns) {
  const c10::AutoGradMode gradients(true);
  rows_.inputs.resize(1);
  const Target learned = target();
  const auto read = read_target(*decoder_, rows_, learned, nn::Recompute::nothing);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  const Losses losses =
      losses_of(settings(), tensors_, scores(tensors_), {}, {{1}, 0}, *read, false);
  nn::SequenceInput input = rows_.inputs.front();
  input.decoder_ids = learned.begun;
  const at::Tensor states = *nn::sequence_states(*decoder_, {&input, 1});
  const at::Tensor logits =
      at::linear(states, decoder_->head().weight, decoder_->head().bias).log_softmax(-1);
  at::Tensor plain = at::zeros({}, at::kDouble);
  int64_t position = 0;
  for (const int64_t label : learned.labels) {
    if (label != nn::kNoLabel) plain = plain - logits[position][label];
    ++position;
  }
  EXPECT_GT(plain.item<double>(), 1);
  EXPECT_NEAR(losses.generation.item<double>(), plain.item<double>(), 1e-9);
  EXPECT_NEAR(losses.consistency.item<double>(), 0, 1e-12) << "one has all of the weight";
}

TEST_P(DyleWeights, have_the_gradients_that_differences_say) {
  const c10::AutoGradMode gradients(true);
  const auto found = gradients_of(loss(tensors_, nn::Recompute::nothing));
  const training::NamedTensors leaves = tensors_.all();
  std::vector<std::string> still;
  for (const auto& [name, gradient] : found) {
    // Of the extractor, along its own gradient: the slope is the gradient's length. What the gate's
    // mean is held at would change with the generator.
    if (!name.starts_with("extractor.") && !name.starts_with("classifier.")) continue;
    const double length = gradient.norm().item<double>();
    if (length < 1e-9) {
      still.push_back(name);
      continue;
    }
    const double step = 1e-6;
    const auto at_distance = [&](double distance) {
      const c10::AutoGradMode off(false);
      training::NamedTensors changed = leaves;
      changed[name] = leaves.at(name).detach() + gradient * (distance / length);
      DyleTensors other = tensors_;
      other.replace(changed);
      return loss(other, nn::Recompute::nothing).item<double>();
    };
    const double slope = (at_distance(step) - at_distance(-step)) / (2 * step);
    EXPECT_NEAR(slope, length, 1e-4 * length + 1e-6) << name;
  }
  // What moves all scores alike changes none of their shares.
  EXPECT_THAT(still, ::testing::ElementsAre("classifier.bias",
                                            "extractor.encoder.layer.1.output.LayerNorm.bias"));
}

INSTANTIATE_TEST_SUITE_P(Profiles, DyleWeights, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "released" : "paper");
});

}  // namespace
}  // namespace qfs::dyle

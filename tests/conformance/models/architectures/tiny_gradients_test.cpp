// Losses and gradients of tiny random models equal those of transformers 5.23 under autograd;
// values by make_tiny_gradients_expected.py.
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/bart/bart.h"
#include "methods/models/architectures/bert/encoder_names.h"
#include "methods/models/architectures/bert/transformer_encoder.h"
#include "methods/models/architectures/gpt2/gpt2.h"
#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/token_loss.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::architectures {
namespace {

using nlohmann::json;

constexpr double kGradientTolerance = 1e-4;

json read(const std::string& name) {
  std::ifstream file("tests/conformance/models/architectures/" + name);
  return json::parse(file);
}

/// The case that describes the checkpoint of a model of tiny_gradients_expected.json.
json checkpoint_of(const json& model, const json& described) {
  for (const json& test_case : described.at("cases")) {
    if (test_case.at("name") == model.at("name")) return test_case;
  }
  ADD_FAILURE() << "no checkpoint of " << model.at("name");
  return {};
}

/// Weights by their names in a checkpoint; parts of fused ones are rows of a tensor.
class Parameters final : public nn::WeightVisitor {
 public:
  explicit Parameters(std::string prefix = "") : prefix_(std::move(prefix)) {}

  void tensor(const std::string& name, at::Tensor& tensor, std::vector<int64_t>) override {
    if (tensor.defined()) add_rows(name, tensor, 0, tensor.size(0));
  }
  void optional(const std::string& name, at::Tensor& tensor, std::vector<int64_t>) override {
    if (tensor.defined()) add_rows(name, tensor, 0, tensor.size(0));
  }
  void tied(const std::string&, at::Tensor&, const at::Tensor&, std::vector<int64_t>) override {}
  void fused(const std::vector<nn::FusedPart>& parts, nn::Linear& linear, int64_t, bool) override {
    int64_t first = 0;
    for (const nn::FusedPart& part : parts) {
      add_rows(part.name + ".weight", linear.weight, first, part.outputs);
      if (linear.bias.defined()) add_rows(part.name + ".bias", linear.bias, first, part.outputs);
      first += part.outputs;
    }
    ASSERT_EQ(first, linear.weight.size(0));
  }
  void transposed(const std::string& name, nn::Linear& linear, int64_t, int64_t) override {
    add_rows(name + ".weight", linear.weight, 0, linear.weight.size(0));
    add_rows(name + ".bias", linear.bias, 0, linear.bias.size(0));
  }

  void expect_gradients(const at::Tensor& loss, const json& model) const {
    ASSERT_NEAR(loss.item<double>(), model.at("loss"),
                kGradientTolerance * std::abs(model.at("loss").get<double>()));
    loss.backward();
    ASSERT_GE(model.at("gradients").size(), 20U);
    for (const json& row : model.at("gradients")) {
      const std::string name = row.at("name");
      SCOPED_TRACE(name);
      ASSERT_TRUE(parts_.contains(name));
      const Part& part = parts_.at(name);
      ASSERT_TRUE(part.whole.grad().defined());
      const at::Tensor gradient =
          part.whole.grad().narrow(0, part.first, part.rows).contiguous().flatten();
      std::vector<float> values =
          qfs::test::tiny_values(name + "#gradient", gradient.numel(), 1, 0);
      const at::Tensor probe = at::from_blob(values.data(), {gradient.numel()});
      const double norm = row.at("norm");
      // What is zero but for rounding, as keys' biases are, has no relative error.
      const double slack = kGradientTolerance * norm + 1e-6;
      EXPECT_NEAR(gradient.norm().item<double>(), norm, slack);
      EXPECT_NEAR(gradient.dot(probe).item<double>(), row.at("product"), slack);
    }
  }

 private:
  struct Part {
    at::Tensor whole;
    int64_t first = 0;
    int64_t rows = 0;
  };

  void add_rows(const std::string& name, const at::Tensor& tensor, int64_t first, int64_t rows) {
    tensor.set_requires_grad(true);
    parts_[(name.starts_with("lm_head") ? "" : prefix_) + name] = {tensor, first, rows};
  }

  std::string prefix_;
  std::map<std::string, Part> parts_;
};

void add_encoder(const EncoderWeights& weights, Parameters& parameters) {
  EncoderWeights shown = weights;
  visit_weights(shown, encoder_names(weights.config.model_type).token_embeddings.front(),
                parameters);
}

class TinyGradientsConformance : public ::testing::Test {
 protected:
  TinyGradientsConformance() { EXPECT_TRUE(nn::configure_torch({}).ok()); }

  /// Calls `check` for every model of a kind, with the folder of its checkpoint.
  template <class Check>
  void for_each(const std::string& kind, const std::string& described_in, size_t at_least,
                Check&& check) {
    const json models = read("tiny_gradients_expected.json").at(kind);
    const json described = read(described_in);
    ASSERT_GE(models.size(), at_least);
    for (const json& model : models) {
      SCOPED_TRACE(model.at("name").get<std::string>());
      const qfs::test::TemporaryFolder folder;
      const auto directory = checkpoints::ModelDirectory::open(
          qfs::test::write_tiny_checkpoint(folder, checkpoint_of(model, described)));
      ASSERT_TRUE(directory.ok()) << directory.error().to_string();
      check(model, *directory);
    }
  }
};

TEST_F(TinyGradientsConformance, OfTheLlamaFamily) {
  for_each("llama", "tiny_llama_expected.json", 13, [](const json& model, const auto& directory) {
    const auto loaded = load_llama_weights(directory);
    ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
    const auto weights = copy_to_device(**loaded, at::kCPU, at::kFloat);
    ASSERT_TRUE(weights.ok());
    Parameters parameters;
    const auto decoder = make_llama_decoder(*weights);
    decoder->visit(parameters);
    const auto logits = nn::sequence_logits(*decoder, {.ids = model.at("ids")});
    ASSERT_TRUE(logits.ok()) << logits.error().to_string();
    const auto loss = nn::token_loss(*logits, model.at("labels").get<std::vector<int64_t>>());
    ASSERT_TRUE(loss.ok()) << loss.error().to_string();
    parameters.expect_gradients(*loss, model);
  });
}

TEST_F(TinyGradientsConformance, OfGpt2) {
  for_each("gpt2", "tiny_gpt2_expected.json", 6, [](const json& model, const auto& directory) {
    const auto decoder = load_gpt2_decoder(directory);
    ASSERT_TRUE(decoder.ok()) << decoder.error().to_string();
    Parameters parameters("transformer.");
    (*decoder)->visit(parameters);
    const auto logits = nn::sequence_logits(**decoder, {.ids = model.at("ids")});
    ASSERT_TRUE(logits.ok()) << logits.error().to_string();
    const auto loss = nn::token_loss(*logits, model.at("labels").get<std::vector<int64_t>>());
    ASSERT_TRUE(loss.ok()) << loss.error().to_string();
    parameters.expect_gradients(*loss, model);
  });
}

TEST_F(TinyGradientsConformance, OfTheBartFamily) {
  for_each(
      "seq2seq", "tiny_seq2seq_expected.json", 10, [](const json& model, const auto& directory) {
        const auto weights = load_bart_weights(directory);
        ASSERT_TRUE(weights.ok()) << weights.error().to_string();
        Parameters parameters;
        const auto decoder = make_bart_decoder(*weights);
        decoder->visit(parameters);
        const auto logits = nn::sequence_logits(*decoder, {.ids = model.at("ids"),
                                                           .global_positions = model.at("global"),
                                                           .decoder_ids = model.at("decoder_ids")});
        ASSERT_TRUE(logits.ok()) << logits.error().to_string();
        const auto loss = nn::token_loss(*logits, model.at("labels").get<std::vector<int64_t>>());
        ASSERT_TRUE(loss.ok()) << loss.error().to_string();
        parameters.expect_gradients(*loss, model);
      });
}

TEST_F(TinyGradientsConformance, OfTextEncoders) {
  for_each("encoders", "tiny_encoders_expected.json", 8,
           [](const json& model, const auto& directory) {
             const auto weights = load_encoder_weights(directory);
             ASSERT_TRUE(weights.ok()) << weights.error().to_string();
             Parameters parameters;
             add_encoder(**weights, parameters);
             const TransformerEncoder encoder(*weights);
             const EncoderInput text = {model.at("ids"), model.at("segments")};
             const auto states = encoder.hidden_states({&text, 1}, encoder.config().layers);
             ASSERT_TRUE(states.ok()) << states.error().to_string();
             std::vector<float> values = qfs::test::tiny_values("states", states->numel(), 1, 0);
             const at::Tensor probe = at::from_blob(values.data(), {states->numel()});
             parameters.expect_gradients(states->flatten().dot(probe), model);
           });
}

TEST_F(TinyGradientsConformance, LabelsThatCannotBeAreRefused) {
  const at::Tensor logits = at::zeros({2, 5});
  const auto refusal = [&](const std::vector<int64_t>& labels) {
    const auto loss = nn::token_loss(logits, labels);
    return loss.ok() ? "computed" : loss.error().message;
  };
  EXPECT_EQ(refusal({1, nn::kNoLabel}), "computed");
  EXPECT_EQ(refusal({1}), "1 labels for logits of 2 positions");
  EXPECT_EQ(refusal({nn::kNoLabel, nn::kNoLabel}), "no position has a label");
  EXPECT_EQ(refusal({1, 5}), "label 5 is outside 0..4");
  EXPECT_EQ(refusal({-1, 0}), "label -1 is outside 0..4");
}

}  // namespace
}  // namespace qfs::architectures

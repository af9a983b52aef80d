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

#include "methods/models/architectures/bart/bart_forward.h"
#include "methods/models/architectures/bart/bart_names.h"
#include "methods/models/architectures/bert/encoder_names.h"
#include "methods/models/architectures/bert/transformer_encoder.h"
#include "methods/models/architectures/gpt2/gpt2_forward.h"
#include "methods/models/architectures/llama/llama_forward.h"
#include "methods/models/architectures/llama/llama_names.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/token_loss.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::architectures {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-4;

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
class Parameters {
 public:
  void add(const std::string& name, const at::Tensor& tensor) {
    if (tensor.defined()) add_rows(name, tensor, 0, tensor.size(0));
  }
  void add(const std::string& name, const nn::Linear& part) {
    add(name + ".weight", part.weight);
    add(name + ".bias", part.bias);
  }
  void add(const std::string& name, const nn::LayerNorm& part) {
    add(name + ".weight", part.weight);
    add(name + ".bias", part.bias);
  }
  void add_fused(const std::vector<std::string>& names, const nn::Linear& part) {
    std::vector<int64_t> rows(names.size(),
                              part.weight.size(0) / static_cast<int64_t>(names.size()));
    add_fused(names, rows, ".weight", part.weight);
    add_fused(names, rows, ".bias", part.bias);
  }
  void add_fused(const std::vector<std::string>& names, const std::vector<int64_t>& rows,
                 const std::string& kind, const at::Tensor& tensor) {
    if (!tensor.defined()) return;
    int64_t first = 0;
    for (size_t i = 0; i < names.size(); first += rows[i++]) {
      add_rows(names[i] + kind, tensor, first, rows[i]);
    }
    ASSERT_EQ(first, tensor.size(0));
  }

  void expect_gradients(const at::Tensor& loss, const json& model) const {
    ASSERT_NEAR(loss.item<double>(), model.at("loss"),
                kTolerance * std::abs(model.at("loss").get<double>()));
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
      const double slack = kTolerance * norm + 1e-6;
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
    parts_[name] = {tensor, first, rows};
  }

  std::map<std::string, Part> parts_;
};

void add_encoder(const EncoderWeights& weights, Parameters& parameters) {
  const EncoderNames& names = encoder_names(weights.config.model_type);
  parameters.add(names.token_embeddings.front() + ".weight", weights.token_embeddings);
  parameters.add(names.positions + ".weight", weights.positions);
  parameters.add(names.segments + ".weight", weights.segments);
  parameters.add(names.norm, weights.norm);
  parameters.add(names.last_norm, weights.last_norm);
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    const EncoderLayerNames layer = names.layer(static_cast<int64_t>(i));
    const EncoderLayer& parts = weights.layers[i];
    parameters.add_fused({layer.query, layer.key, layer.value}, parts.qkv);
    parameters.add(layer.attention_output, parts.attention_output);
    parameters.add(layer.attention_norm, parts.attention_norm);
    parameters.add(layer.up, parts.up);
    parameters.add(layer.down, parts.down);
    parameters.add(layer.output_norm, parts.output_norm);
  }
}

void add_bart(const BartWeights& weights, Parameters& parameters) {
  add_encoder(*weights.encoder, parameters);
  for (size_t i = 0; i < weights.global.size(); ++i) {
    const AttentionNames names = global_attention_names(static_cast<int64_t>(i));
    parameters.add(names.query, weights.global[i].query);
    parameters.add_fused({names.key, names.value}, weights.global[i].key_value);
  }
  parameters.add("decoder.embed_positions.weight", weights.positions);
  parameters.add("decoder.layernorm_embedding", weights.norm);
  parameters.add("decoder.layer_norm", weights.last_norm);
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    const DecoderLayerNames names = decoder_layer_names(static_cast<int64_t>(i));
    const DecoderLayer& layer = weights.layers[i];
    parameters.add_fused({names.self.query, names.self.key, names.self.value}, layer.self_qkv);
    parameters.add(names.self.output, layer.self_output);
    parameters.add(names.self.norm, layer.self_norm);
    parameters.add(names.cross.query, layer.cross_query);
    parameters.add_fused({names.cross.key, names.cross.value}, layer.cross_key_value);
    parameters.add(names.cross.output, layer.cross_output);
    parameters.add(names.cross.norm, layer.cross_norm);
    parameters.add(names.up, layer.up);
    parameters.add(names.down, layer.down);
    parameters.add(names.output_norm, layer.output_norm);
  }
  if (!weights.config.tied) parameters.add("lm_head.weight", weights.head.weight);
}

void add_llama(const DeviceLlamaWeights& weights, Parameters& parameters) {
  const LlamaNames& names = hugging_face_llama_names();
  const LlamaConfig& c = weights.config;
  parameters.add(names.embedding + ".weight", weights.embedding);
  parameters.add(names.output_norm + ".weight", weights.output_norm);
  parameters.add(names.head + ".weight", weights.head);
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    const LlamaLayerNames layer = names.layer(static_cast<int64_t>(i));
    const DeviceLlamaLayer& parts = weights.layers[i];
    parameters.add(layer.attention_norm + ".weight", parts.attention_norm);
    parameters.add(layer.mlp_norm + ".weight", parts.mlp_norm);
    const auto fused = [&](const std::vector<std::string>& of, const std::vector<int64_t>& rows,
                           const at::Tensor& weight, const at::Tensor& bias) {
      parameters.add_fused(of, rows, ".weight", weight);
      parameters.add_fused(of, rows, ".bias", bias);
    };
    fused({layer.query, layer.key, layer.value}, {c.query_width(), c.kv_width(), c.kv_width()},
          parts.qkv, parts.qkv_bias);
    fused({layer.attention_output}, {c.hidden}, parts.attention_output, parts.output_bias);
    fused({layer.gate, layer.up}, {c.intermediate, c.intermediate}, parts.gate_up,
          parts.gate_up_bias);
    fused({layer.down}, {c.hidden}, parts.down, parts.down_bias);
  }
}

void add_gpt2(const Gpt2Weights& weights, Parameters& parameters) {
  parameters.add("transformer.wte.weight", weights.token_embeddings);
  parameters.add("transformer.wpe.weight", weights.positions);
  parameters.add("transformer.ln_f", weights.last_norm);
  if (!weights.config.tied) parameters.add("lm_head.weight", weights.head.weight);
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    const std::string prefix = "transformer.h." + std::to_string(i) + ".";
    const Gpt2Layer& layer = weights.layers[i];
    parameters.add(prefix + "ln_1", layer.attention_norm);
    parameters.add(prefix + "attn.c_attn", layer.qkv);
    parameters.add(prefix + "attn.c_proj", layer.attention_output);
    parameters.add(prefix + "ln_2", layer.mlp_norm);
    parameters.add(prefix + "mlp.c_fc", layer.up);
    parameters.add(prefix + "mlp.c_proj", layer.down);
  }
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
    add_llama(**weights, parameters);
    const auto logits = llama_logits(**weights, model.at("ids").get<std::vector<int32_t>>());
    ASSERT_TRUE(logits.ok()) << logits.error().to_string();
    const auto loss = nn::token_loss(*logits, model.at("labels").get<std::vector<int64_t>>());
    ASSERT_TRUE(loss.ok()) << loss.error().to_string();
    parameters.expect_gradients(*loss, model);
  });
}

TEST_F(TinyGradientsConformance, OfGpt2) {
  for_each("gpt2", "tiny_gpt2_expected.json", 6, [](const json& model, const auto& directory) {
    const auto weights = load_gpt2_weights(directory);
    ASSERT_TRUE(weights.ok()) << weights.error().to_string();
    Parameters parameters;
    add_gpt2(**weights, parameters);
    const auto logits = gpt2_logits(**weights, model.at("ids").get<std::vector<int32_t>>());
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
        add_bart(**weights, parameters);
        const auto logits = bart_logits(**weights, {.ids = model.at("ids"),
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

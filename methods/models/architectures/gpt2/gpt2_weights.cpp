// Source of the names: transformers 5.23, modeling_gpt2.py.
#include "methods/models/architectures/gpt2/gpt2_weights.h"

#include <ATen/ops/zeros.h>

#include <string>
#include <utility>

#include "methods/models/architectures/reading/tensor_reader.h"
#include "methods/models/checkpoints/renamed_checkpoint.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::architectures {

namespace {

using Loaded = Result<std::shared_ptr<const Gpt2Weights>>;

constexpr const char* kHead = "lm_head.weight";

std::string layer_prefix(int64_t index) { return "h." + std::to_string(index) + "."; }

/// A layer that the file holds as [inputs, outputs] (transformers' Conv1D).
void expect_transposed(const std::string& name, int64_t outputs, int64_t inputs,
                       TensorList& expected) {
  expected.add(name + ".weight", {inputs, outputs});
  expected.add(name + ".bias", {outputs});
}

nn::Linear read_transposed(const std::string& name, TensorReader& reader) {
  const at::Tensor weight = reader.tensor(name + ".weight");
  return {weight.defined() ? weight.t().contiguous() : weight, reader.tensor(name + ".bias")};
}

TensorList expected_tensors(const Gpt2Config& config) {
  const int64_t width = config.hidden;
  TensorList expected;
  expected.add("wte.weight", {config.vocabulary, width});
  expected.add("wpe.weight", {config.context, width});
  for (int64_t i = 0; i < config.layers; ++i) {
    const std::string prefix = layer_prefix(i);
    expected.add_norm(prefix + "ln_1", width);
    expect_transposed(prefix + "attn.c_attn", 3 * width, width, expected);
    expect_transposed(prefix + "attn.c_proj", width, width, expected);
    expected.add_norm(prefix + "ln_2", width);
    expect_transposed(prefix + "mlp.c_fc", config.intermediate, width, expected);
    expect_transposed(prefix + "mlp.c_proj", width, config.intermediate, expected);
  }
  expected.add_norm("ln_f", width);
  if (config.tied) {
    expected.add_optional(kHead, {config.vocabulary, width});
  } else {
    expected.add(kHead, {config.vocabulary, width});
  }
  return expected;
}

Gpt2Layer read_layer(const std::string& prefix, TensorReader& reader) {
  return {.attention_norm = reader.norm(prefix + "ln_1"),
          .qkv = read_transposed(prefix + "attn.c_attn", reader),
          .attention_output = read_transposed(prefix + "attn.c_proj", reader),
          .mlp_norm = reader.norm(prefix + "ln_2"),
          .up = read_transposed(prefix + "mlp.c_fc", reader),
          .down = read_transposed(prefix + "mlp.c_proj", reader)};
}

}  // namespace

Loaded load_gpt2_weights(const checkpoints::ModelDirectory& directory) {
  const auto config = read_gpt2_config(directory);
  if (!config.ok()) return config.error();
  const auto stored = directory.open_weights();
  if (!stored.ok()) return stored.error();
  const auto file = checkpoints::replace_prefix(*stored, "transformer.", "");
  if (!file.ok()) return file.error();
  // The causal mask, which old files carry, and heads of other tasks.
  const std::vector<std::string> others = {"*.attn.bias", "*.attn.masked_bias", "score.*",
                                           "multiple_choice_head.*"};
  const auto differences =
      checkpoints::compare_tensors(**file, expected_tensors(*config).tensors(), others);
  if (Status same = to_status(differences, directory.path()); !same.ok()) return same.error();
  return nn::guarded("loading '" + directory.path() + "'", [&]() -> Loaded {
    auto weights = std::make_shared<Gpt2Weights>();
    weights->config = *config;
    TensorReader reader(**file);
    weights->token_embeddings = reader.tensor("wte.weight");
    weights->positions = reader.tensor("wpe.weight");
    for (int64_t i = 0; i < config->layers && reader.status().ok(); ++i) {
      weights->layers.push_back(read_layer(layer_prefix(i), reader));
    }
    weights->last_norm = reader.norm("ln_f");
    if (config->tied) reader.expect_tied(kHead, weights->token_embeddings);
    weights->head = {config->tied ? weights->token_embeddings : reader.tensor(kHead),
                     at::zeros({config->vocabulary})};
    if (!reader.status().ok()) return reader.status().error();
    return std::shared_ptr<const Gpt2Weights>(std::move(weights));
  });
}

}  // namespace qfs::architectures

#include "methods/models/architectures/bert/encoder_weights.h"

#include <algorithm>
#include <utility>

#include "methods/models/architectures/bert/encoder_names.h"
#include "methods/models/architectures/reading/tensor_reader.h"
#include "methods/models/checkpoints/renamed_checkpoint.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sinusoidal.h"

namespace qfs::architectures {

namespace {

using checkpoints::Checkpoint;

/// The name of the token embeddings, which some checkpoints keep at another place. Where nothing is
/// tied, the encoder's own comes before one that it would share.
std::string token_embeddings_name(const Checkpoint& file, const EncoderNames& names, bool tied) {
  std::vector<std::string> places = names.token_embeddings;
  if (!tied) std::ranges::reverse(places);
  for (const std::string& name : places) {
    if (file.find(name + ".weight") != nullptr) return name;
  }
  return names.token_embeddings.front();
}

/// Every tensor of the encoder, before any is read.
TensorList expected_tensors(const EncoderConfig& config, const EncoderNames& names,
                            const std::string& embeddings) {
  TensorList expected;
  expected.add(embeddings + ".weight", {config.vocabulary, config.hidden});
  if (config.sinusoidal) {
    expected.add_optional(names.positions + ".weight", {config.position_rows, config.hidden});
  } else {
    expected.add(names.positions + ".weight", {config.position_rows, config.hidden});
  }
  if (config.segments > 0) {
    expected.add(names.segments + ".weight", {config.segments, config.hidden});
  }
  if (config.embedding_norm) expected.add_norm(names.norm, config.hidden);
  if (config.pre_norm) expected.add_norm(names.last_norm, config.hidden);
  for (int64_t i = 0; i < config.layers; ++i) {
    const EncoderLayerNames layer = names.layer(i);
    for (const std::string& name : {layer.query, layer.key, layer.value, layer.attention_output}) {
      expected.add_linear(name, config.hidden, config.hidden);
    }
    expected.add_norm(layer.attention_norm, config.hidden);
    expected.add_linear(layer.up, config.intermediate, config.hidden);
    expected.add_linear(layer.down, config.hidden, config.intermediate);
    expected.add_norm(layer.output_norm, config.hidden);
  }
  return expected;
}

}  // namespace

Result<std::shared_ptr<const Checkpoint>> open_encoder_checkpoint(
    const checkpoints::ModelDirectory& directory) {
  const auto stored = directory.open_weights();
  if (!stored.ok()) return stored;
  if (checkpoints::is_native_led(**stored)) return checkpoints::rename_native_led(*stored);
  return checkpoints::rename_tensorflow_norms(*stored);
}

Result<std::shared_ptr<const EncoderWeights>> load_encoder_weights(
    const checkpoints::ModelDirectory& directory) {
  using Loaded = Result<std::shared_ptr<const EncoderWeights>>;
  const auto config = read_encoder_config(directory);
  if (!config.ok()) return config.error();
  const EncoderNames& names = encoder_names(config->model_type);
  const auto stored = open_encoder_checkpoint(directory);
  if (!stored.ok()) return stored.error();
  const auto file = checkpoints::replace_prefix(*stored, names.prefix, "");
  if (!file.ok()) return file.error();
  const Result<bool> tied = directory.config().boolean_or("tie_word_embeddings", true);
  if (!tied.ok()) return tied.error();
  const std::string embeddings = token_embeddings_name(**file, names, *tied);
  const auto differences = checkpoints::compare_tensors(
      **file, expected_tensors(*config, names, embeddings).tensors(), names.others);
  if (Status same = to_status(differences, directory.path()); !same.ok()) return same.error();
  return nn::guarded("loading '" + directory.path() + "'", [&]() -> Loaded {
    auto weights = std::make_shared<EncoderWeights>();
    weights->config = *config;
    TensorReader reader(**file);
    weights->token_embeddings = reader.tensor(embeddings + ".weight");
    weights->positions = config->sinusoidal && (*file)->find(names.positions + ".weight") == nullptr
                             ? nn::sinusoidal_positions(config->position_rows, config->hidden)
                             : reader.tensor(names.positions + ".weight");
    if (config->segments > 0) weights->segments = reader.tensor(names.segments + ".weight");
    if (config->embedding_norm) weights->norm = reader.norm(names.norm);
    if (config->pre_norm) weights->last_norm = reader.norm(names.last_norm);
    for (int64_t i = 0; i < config->layers && reader.status().ok(); ++i) {
      const EncoderLayerNames layer = names.layer(i);
      weights->layers.push_back({reader.fused({layer.query, layer.key, layer.value}),
                                 reader.linear(layer.attention_output),
                                 reader.norm(layer.attention_norm), reader.linear(layer.up),
                                 reader.linear(layer.down), reader.norm(layer.output_norm)});
    }
    if (!reader.status().ok()) return reader.status().error();
    return std::shared_ptr<const EncoderWeights>(std::move(weights));
  });
}

}  // namespace qfs::architectures

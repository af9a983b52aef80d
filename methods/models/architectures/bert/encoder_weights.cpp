#include "methods/models/architectures/bert/encoder_weights.h"

#include <algorithm>
#include <utility>

#include "methods/models/architectures/bert/encoder_names.h"
#include "methods/models/architectures/reading/tensor_reader.h"
#include "methods/models/checkpoints/renamed_checkpoint.h"
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

}  // namespace

Result<std::shared_ptr<const Checkpoint>> open_encoder_checkpoint(
    const checkpoints::ModelDirectory& directory) {
  const auto stored = directory.open_weights();
  if (!stored.ok()) return stored;
  if (checkpoints::is_native_led(**stored)) return checkpoints::rename_native_led(*stored);
  auto file = checkpoints::rename_tensorflow_norms(*stored);
  for (const char* dpr : {"question_encoder.bert_model.", "ctx_encoder.bert_model."}) {
    if (file.ok()) file = checkpoints::replace_prefix(*file, dpr, "bert.");
  }
  return file;
}

Result<std::shared_ptr<const EncoderWeights>> load_encoder_weights(
    const checkpoints::ModelDirectory& directory) {
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
  auto weights = std::make_shared<EncoderWeights>();
  weights->config = *config;
  const Status read = read_weights(
      **file, directory.path(), names.others,
      [&](nn::WeightVisitor& visitor) { visit_weights(*weights, embeddings, visitor); });
  if (!read.ok()) return read.error();
  if (config->sinusoidal && !weights->positions.defined()) {
    weights->positions = nn::sinusoidal_positions(config->position_rows, config->hidden);
  }
  return std::shared_ptr<const EncoderWeights>(std::move(weights));
}

nn::AdapterPlaces adapter_places(const EncoderWeights& weights) {
  EncoderWeights shown = weights;
  nn::AdapterPlaces places;
  places.linears = nn::adapter_targets(
      [&](nn::WeightVisitor& visitor) { visit_weights(shown, "embeddings", visitor); });
  places.device = weights.token_embeddings.device();
  places.type = weights.token_embeddings.scalar_type();
  return places;
}

void visit_weights(EncoderWeights& weights, const std::string& embeddings,
                   nn::WeightVisitor& visitor) {
  const EncoderConfig& c = weights.config;
  const EncoderNames& names = encoder_names(c.model_type);
  visitor.tensor(embeddings + ".weight", weights.token_embeddings, {c.vocabulary, c.hidden});
  const std::vector<int64_t> table = {c.position_rows, c.hidden};
  if (c.sinusoidal) {
    visitor.optional(names.positions + ".weight", weights.positions, table);
  } else {
    visitor.tensor(names.positions + ".weight", weights.positions, table);
  }
  if (c.segments > 0) {
    visitor.tensor(names.segments + ".weight", weights.segments, {c.segments, c.hidden});
  }
  if (c.embedding_norm) visitor.norm(names.norm, weights.norm, c.hidden);
  if (c.pre_norm) visitor.norm(names.last_norm, weights.last_norm, c.hidden);
  weights.layers.resize(static_cast<size_t>(c.layers));
  for (int64_t i = 0; i < c.layers; ++i) {
    const EncoderLayerNames layer = names.layer(i);
    EncoderLayer& to = weights.layers[static_cast<size_t>(i)];
    visitor.fused({{layer.query, c.hidden}, {layer.key, c.hidden}, {layer.value, c.hidden}}, to.qkv,
                  c.hidden);
    visitor.linear(layer.attention_output, to.attention_output, c.hidden, c.hidden);
    visitor.norm(layer.attention_norm, to.attention_norm, c.hidden);
    visitor.linear(layer.up, to.up, c.intermediate, c.hidden);
    visitor.linear(layer.down, to.down, c.hidden, c.intermediate);
    visitor.norm(layer.output_norm, to.output_norm, c.hidden);
  }
}

}  // namespace qfs::architectures

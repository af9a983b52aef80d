#include "methods/models/architectures/bart/bart_weights.h"

#include <string>
#include <utility>

#include "methods/models/architectures/bart/bart_names.h"
#include "methods/models/architectures/bert/encoder_names.h"
#include "methods/models/architectures/reading/tensor_reader.h"
#include "methods/models/checkpoints/renamed_checkpoint.h"
#include "methods/models/nn/sinusoidal.h"

namespace qfs::architectures {

namespace {

void visit_layer(const DecoderLayerNames& names, const BartConfig& config, DecoderLayer& layer,
                 nn::WeightVisitor& visitor) {
  const int64_t width = config.encoder.hidden;
  visitor.fused({{names.self.query, width}, {names.self.key, width}, {names.self.value, width}},
                layer.self_qkv, width);
  visitor.linear(names.self.output, layer.self_output, width, width);
  visitor.norm(names.self.norm, layer.self_norm, width);
  visitor.linear(names.cross.query, layer.cross_query, width, width);
  visitor.fused({{names.cross.key, width}, {names.cross.value, width}}, layer.cross_key_value,
                width);
  visitor.linear(names.cross.output, layer.cross_output, width, width);
  visitor.norm(names.cross.norm, layer.cross_norm, width);
  visitor.linear(names.up, layer.up, config.decoder_intermediate, width);
  visitor.linear(names.down, layer.down, width, config.decoder_intermediate);
  visitor.norm(names.output_norm, layer.output_norm, width);
}

/// All but the encoder's.
void visit_decoder(BartWeights& weights, nn::WeightVisitor& visitor) {
  const BartConfig& c = weights.config;
  const int64_t width = c.encoder.hidden;
  // Saved once or several times where they are tied.
  const std::vector<int64_t> table = {c.encoder.vocabulary, width};
  const at::Tensor& embeddings = weights.encoder->token_embeddings;
  for (const char* name :
       {"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}) {
    visitor.tied(name, weights.token_embeddings, embeddings, table);
  }
  const std::vector<int64_t> positions = {c.decoder_position_rows, width};
  if (c.encoder.sinusoidal) {
    visitor.optional("decoder.embed_positions.weight", weights.positions, positions);
  } else {
    visitor.tensor("decoder.embed_positions.weight", weights.positions, positions);
  }
  if (c.encoder.embedding_norm) {
    visitor.norm("decoder.layernorm_embedding", weights.norm, width);
  }
  if (c.encoder.pre_norm) visitor.norm("decoder.layer_norm", weights.last_norm, width);
  weights.layers.resize(static_cast<size_t>(c.decoder_layers));
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    visit_layer(decoder_layer_names(static_cast<int64_t>(i)), c, weights.layers[i], visitor);
  }
  weights.global.resize(c.windows.size());
  for (size_t i = 0; i < weights.global.size(); ++i) {
    const AttentionNames names = global_attention_names(static_cast<int64_t>(i));
    visitor.linear(names.query, weights.global[i].query, width, width);
    visitor.fused({{names.key, width}, {names.value, width}}, weights.global[i].key_value, width);
  }
  if (c.tied) {
    visitor.tied("lm_head.weight", weights.head.weight, embeddings, table);
  } else {
    visitor.tensor("lm_head.weight", weights.head.weight, table);
  }
  // A buffer that old files lack.
  visitor.optional("final_logits_bias", weights.head.bias, {1, c.encoder.vocabulary});
}

/// A table without the rows that stand before the first position.
at::Tensor used_rows(const at::Tensor& table, int64_t first) {
  return table.narrow(0, first, table.size(0) - first);
}

at::Tensor repeated(const at::Tensor& table, int64_t rows) {
  const int64_t times = (rows + table.size(0) - 1) / table.size(0);
  return table.repeat({times, 1}).narrow(0, 0, rows).contiguous();
}

nn::Linear rows_of(const nn::Linear& fused, int64_t first, int64_t count) {
  return {fused.weight.narrow(0, first, count), fused.bias.narrow(0, first, count)};
}

}  // namespace

Result<std::shared_ptr<const BartWeights>> load_bart_weights(
    const checkpoints::ModelDirectory& directory) {
  const auto config = read_bart_config(directory);
  if (!config.ok()) return config.error();
  const auto encoder = load_encoder_weights(directory);
  if (!encoder.ok()) return encoder.error();
  const auto stored = open_encoder_checkpoint(directory);
  if (!stored.ok()) return stored.error();
  const std::string& prefix = encoder_names(config->encoder.model_type).prefix;
  const auto file = checkpoints::replace_prefix(*stored, prefix, "");
  if (!file.ok()) return file.error();
  // The encoder's loader has looked at what lies below "encoder.".
  const std::vector<std::string> others = {"encoder.*", "classification_head.*", "qa_outputs.*",
                                           "decoder.version"};
  auto weights = std::make_shared<BartWeights>();
  weights->config = *config;
  weights->encoder = *encoder;
  weights->token_embeddings = (*encoder)->token_embeddings;
  const Status read =
      read_weights(**file, directory.path(), others,
                   [&](nn::WeightVisitor& visitor) { visit_decoder(*weights, visitor); });
  if (!read.ok()) return read.error();
  if (!weights->positions.defined()) {
    weights->positions =
        nn::sinusoidal_positions(config->decoder_position_rows, config->encoder.hidden);
  }
  if (weights->head.bias.defined()) weights->head.bias = weights->head.bias.squeeze(0);
  return std::shared_ptr<const BartWeights>(std::move(weights));
}

void visit_weights(BartWeights& weights, nn::WeightVisitor& visitor) {
  auto encoder = std::make_shared<EncoderWeights>(*weights.encoder);
  visit_weights(*encoder, encoder_names(encoder->config.model_type).token_embeddings.front(),
                visitor);
  weights.encoder = std::move(encoder);
  visit_decoder(weights, visitor);
}

std::shared_ptr<const BartWeights> led_from_bart(const BartWeights& bart, int64_t window,
                                                 int64_t positions) {
  auto led = std::make_shared<BartWeights>(bart);
  auto encoder = std::make_shared<EncoderWeights>(*bart.encoder);
  EncoderConfig& config = encoder->config;
  encoder->positions = repeated(used_rows(encoder->positions, config.first_position), positions);
  config.model_type = "led";
  config.first_position = 0;
  config.position_rows = positions;
  led->positions = used_rows(bart.positions, bart.config.decoder_first_position);
  led->config.decoder_first_position = 0;
  led->config.decoder_position_rows = led->positions.size(0);
  led->config.windows.assign(static_cast<size_t>(config.layers), {.reach = window / 2});
  for (const EncoderLayer& layer : encoder->layers) {
    led->global.push_back({rows_of(layer.qkv, 0, config.hidden),
                           rows_of(layer.qkv, config.hidden, 2 * config.hidden)});
  }
  led->config.encoder = config;
  led->encoder = encoder;
  return led;
}

}  // namespace qfs::architectures

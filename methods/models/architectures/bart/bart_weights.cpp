#include "methods/models/architectures/bart/bart_weights.h"

#include <ATen/ops/zeros.h>

#include <string>
#include <utility>

#include "methods/models/architectures/bart/bart_names.h"
#include "methods/models/architectures/bert/encoder_names.h"
#include "methods/models/architectures/reading/tensor_reader.h"
#include "methods/models/checkpoints/renamed_checkpoint.h"
#include "methods/models/nn/device/device_copier.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sinusoidal.h"

namespace qfs::architectures {

namespace {

using checkpoints::Checkpoint;
using Loaded = Result<std::shared_ptr<const BartWeights>>;

void expect_attention(const AttentionNames& names, int64_t width, TensorList& expected) {
  for (const std::string& name : {names.query, names.key, names.value, names.output}) {
    expected.add_linear(name, width, width);
  }
  expected.add_norm(names.norm, width);
}

/// Every tensor but the encoder's own.
TensorList expected_tensors(const BartConfig& config) {
  const int64_t width = config.encoder.hidden;
  TensorList expected;
  const std::vector<int64_t> positions = {config.decoder_position_rows, width};
  if (config.encoder.sinusoidal) {
    expected.add_optional("decoder.embed_positions.weight", positions);
  } else {
    expected.add("decoder.embed_positions.weight", positions);
  }
  if (config.encoder.embedding_norm) expected.add_norm("decoder.layernorm_embedding", width);
  if (config.encoder.pre_norm) expected.add_norm("decoder.layer_norm", width);
  for (int64_t i = 0; i < config.decoder_layers; ++i) {
    const DecoderLayerNames names = decoder_layer_names(i);
    expect_attention(names.self, width, expected);
    expect_attention(names.cross, width, expected);
    expected.add_linear(names.up, config.decoder_intermediate, width);
    expected.add_linear(names.down, width, config.decoder_intermediate);
    expected.add_norm(names.output_norm, width);
  }
  for (size_t i = 0; i < config.windows.size(); ++i) {
    const AttentionNames names = global_attention_names(static_cast<int64_t>(i));
    for (const std::string& name : {names.query, names.key, names.value}) {
      expected.add_linear(name, width, width);
    }
  }
  // Saved once or several times where they are tied; the bias is a buffer that old files lack.
  const std::vector<int64_t> table = {config.encoder.vocabulary, width};
  expected.add_optional("shared.weight", table);
  expected.add_optional("decoder.embed_tokens.weight", table);
  expected.add_optional("final_logits_bias", {1, config.encoder.vocabulary});
  if (config.tied) {
    expected.add_optional("lm_head.weight", table);
  } else {
    expected.add("lm_head.weight", table);
  }
  return expected;
}

DecoderLayer read_layer(const DecoderLayerNames& names, TensorReader& reader) {
  return {.self_qkv = reader.fused({names.self.query, names.self.key, names.self.value}),
          .self_output = reader.linear(names.self.output),
          .self_norm = reader.norm(names.self.norm),
          .cross_query = reader.linear(names.cross.query),
          .cross_key_value = reader.fused({names.cross.key, names.cross.value}),
          .cross_output = reader.linear(names.cross.output),
          .cross_norm = reader.norm(names.cross.norm),
          .up = reader.linear(names.up),
          .down = reader.linear(names.down),
          .output_norm = reader.norm(names.output_norm)};
}

/// The output head with its bias.
void read_head(const Checkpoint& file, TensorReader& reader, BartWeights& weights) {
  const at::Tensor& embeddings = weights.encoder->token_embeddings;
  for (const char* name :
       {"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}) {
    reader.expect_tied(name, embeddings);
  }
  if (weights.config.tied) reader.expect_tied("lm_head.weight", embeddings);
  weights.head.weight = weights.config.tied ? embeddings : reader.tensor("lm_head.weight");
  weights.head.bias = file.find("final_logits_bias") != nullptr
                          ? reader.tensor("final_logits_bias")
                          : at::zeros({1, weights.config.encoder.vocabulary});
  if (reader.status().ok()) weights.head.bias = weights.head.bias.squeeze(0);
}

class Copier {
 public:
  Copier(at::Device device, at::ScalarType type) : copier_(device, type) {}

  at::Tensor operator()(const at::Tensor& tensor) { return copier_.tensor(tensor); }
  nn::Linear operator()(const nn::Linear& part) {
    return {(*this)(part.weight), (*this)(part.bias)};
  }
  nn::LayerNorm operator()(const nn::LayerNorm& part) {
    return {(*this)(part.weight), (*this)(part.bias)};
  }

 private:
  nn::DeviceCopier copier_;
};

std::shared_ptr<const EncoderWeights> copy_encoder(const EncoderWeights& weights, Copier& to) {
  auto copy = std::make_shared<EncoderWeights>();
  copy->config = weights.config;
  copy->token_embeddings = to(weights.token_embeddings);
  copy->positions = to(weights.positions);
  copy->segments = to(weights.segments);
  copy->norm = to(weights.norm);
  copy->last_norm = to(weights.last_norm);
  for (const EncoderLayer& layer : weights.layers) {
    copy->layers.push_back({to(layer.qkv), to(layer.attention_output), to(layer.attention_norm),
                            to(layer.up), to(layer.down), to(layer.output_norm)});
  }
  return copy;
}

}  // namespace

Loaded load_bart_weights(const checkpoints::ModelDirectory& directory) {
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
  const auto differences =
      checkpoints::compare_tensors(**file, expected_tensors(*config).tensors(), others);
  if (Status same = to_status(differences, directory.path()); !same.ok()) return same.error();
  return nn::guarded("loading '" + directory.path() + "'", [&]() -> Loaded {
    auto weights = std::make_shared<BartWeights>();
    weights->config = *config;
    weights->encoder = *encoder;
    TensorReader reader(**file);
    for (size_t i = 0; i < config->windows.size(); ++i) {
      const AttentionNames names = global_attention_names(static_cast<int64_t>(i));
      weights->global.push_back(
          {reader.linear(names.query), reader.fused({names.key, names.value})});
    }
    weights->token_embeddings = weights->encoder->token_embeddings;
    const bool stored_positions = (*file)->find("decoder.embed_positions.weight") != nullptr;
    weights->positions = stored_positions ? reader.tensor("decoder.embed_positions.weight")
                                          : nn::sinusoidal_positions(config->decoder_position_rows,
                                                                     config->encoder.hidden);
    if (config->encoder.embedding_norm) weights->norm = reader.norm("decoder.layernorm_embedding");
    if (config->encoder.pre_norm) weights->last_norm = reader.norm("decoder.layer_norm");
    for (int64_t i = 0; i < config->decoder_layers && reader.status().ok(); ++i) {
      weights->layers.push_back(read_layer(decoder_layer_names(i), reader));
    }
    read_head(**file, reader, *weights);
    if (!reader.status().ok()) return reader.status().error();
    return std::shared_ptr<const BartWeights>(std::move(weights));
  });
}

Loaded copy_to_device(const BartWeights& weights, at::Device device, at::ScalarType type) {
  return nn::guarded("copying weights to " + device.str(), [&]() -> Loaded {
    Copier to(device, type);
    auto copy = std::make_shared<BartWeights>();
    copy->config = weights.config;
    copy->encoder = copy_encoder(*weights.encoder, to);
    for (const nn::GlobalProjections& layer : weights.global) {
      copy->global.push_back({to(layer.query), to(layer.key_value)});
    }
    const bool shared = weights.token_embeddings.is_same(weights.encoder->token_embeddings);
    copy->token_embeddings =
        shared ? copy->encoder->token_embeddings : to(weights.token_embeddings);
    copy->positions = to(weights.positions);
    copy->norm = to(weights.norm);
    copy->last_norm = to(weights.last_norm);
    for (const DecoderLayer& layer : weights.layers) {
      copy->layers.push_back({to(layer.self_qkv), to(layer.self_output), to(layer.self_norm),
                              to(layer.cross_query), to(layer.cross_key_value),
                              to(layer.cross_output), to(layer.cross_norm), to(layer.up),
                              to(layer.down), to(layer.output_norm)});
    }
    const bool tied = weights.head.weight.is_same(weights.token_embeddings);
    copy->head = {tied ? copy->token_embeddings : to(weights.head.weight), to(weights.head.bias)};
    return std::shared_ptr<const BartWeights>(std::move(copy));
  });
}

}  // namespace qfs::architectures

// Sources: transformers 5.23, for names and defaults configuration_*.py of bert, dpr, roberta,
// distilbert, bart, led, mbart and pegasus; modeling_bart.py for the two rows before BART's first
// position.
#include "methods/models/architectures/bert/encoder_config.h"

#include <cmath>

#include "methods/models/architectures/reading/config_reader.h"
#include "methods/models/checkpoints/model_config.h"

namespace qfs::architectures {

namespace {

using checkpoints::ConfigObject;

constexpr int64_t kMaxWidth = 1 << 20;
constexpr int64_t kMaxRows = int64_t{1} << 24;
constexpr int64_t kMaxLayers = 4096;

/// BERT and RoBERTa, which share their keys.
std::string read_bert(ConfigReader& reader, EncoderConfig& config) {
  config.layers = reader.integer("num_hidden_layers", kMaxLayers);
  config.hidden = reader.integer("hidden_size", kMaxWidth);
  config.intermediate = reader.integer("intermediate_size", kMaxWidth);
  config.heads = reader.integer("num_attention_heads", 65536);
  config.position_rows = reader.integer("max_position_embeddings", kMaxRows);
  config.segments = reader.integer_or("type_vocab_size", kMaxRows, 2);
  config.norm_eps = reader.real_or("layer_norm_eps", 1e-12);
  config.dropout = {.residual = reader.real_or("hidden_dropout_prob", 0.1),
                    .attention = reader.real_or("attention_probs_dropout_prob", 0.1)};
  return reader.text_or("hidden_act", "gelu");
}

/// A BERT under another name (open_encoder_checkpoint), unless its vectors are projected.
std::string read_dpr(ConfigReader& reader, EncoderConfig& config) {
  config.model_type = "bert";
  reader.count_or("projection_dim", 0, 0);
  return read_bert(reader, config);
}

std::string read_roberta(ConfigReader& reader, EncoderConfig& config) {
  std::string activation = read_bert(reader, config);
  config.padding_id = static_cast<int32_t>(reader.count_or("pad_token_id", kMaxRows, 1));
  config.first_position = config.padding_id + 1;
  config.padding_has_no_position = true;
  return activation;
}

std::string read_distilbert(ConfigReader& reader, EncoderConfig& config) {
  config.layers = reader.integer("n_layers", kMaxLayers);
  config.hidden = reader.integer("dim", kMaxWidth);
  config.intermediate = reader.integer("hidden_dim", kMaxWidth);
  config.heads = reader.integer("n_heads", 65536);
  config.position_rows = reader.integer("max_position_embeddings", kMaxRows);
  config.dropout = {.residual = reader.real_or("dropout", 0.1),
                    .attention = reader.real_or("attention_dropout", 0.1)};
  return reader.text_or("activation", "gelu");
}

/// What BART and LED share, the decoder's dropout among it.
std::string read_bart_like(ConfigReader& reader, EncoderConfig& config) {
  config.layers = reader.integer("encoder_layers", kMaxLayers);
  config.hidden = reader.integer("d_model", kMaxWidth);
  config.intermediate = reader.integer("encoder_ffn_dim", kMaxWidth);
  config.heads = reader.integer("encoder_attention_heads", 65536);
  config.norm_eps = 1e-5;
  config.dropout = {.residual = reader.real_or("dropout", 0.1),
                    .attention = reader.real_or("attention_dropout", 0),
                    .activation = reader.real_or("activation_dropout", 0)};
  config.padding_id = static_cast<int32_t>(reader.count_or("pad_token_id", kMaxRows, 1));
  return reader.text_or("activation_function", "gelu");
}

std::string read_bart(ConfigReader& reader, EncoderConfig& config) {
  std::string activation = read_bart_like(reader, config);
  config.first_position = 2;
  config.position_rows = reader.integer("max_position_embeddings", kMaxRows) + 2;
  if (reader.boolean_or("scale_embedding", false)) {
    config.embedding_scale = std::sqrt(static_cast<double>(config.hidden));
  }
  return activation;
}

std::string read_mbart(ConfigReader& reader, EncoderConfig& config) {
  config.pre_norm = true;
  return read_bart(reader, config);
}

std::string read_pegasus(ConfigReader& reader, EncoderConfig& config) {
  std::string activation = read_bart(reader, config);
  config.pre_norm = true;
  config.embedding_norm = false;
  config.sinusoidal = true;
  config.position_rows -= config.first_position;
  config.first_position = 0;
  return activation;
}

std::string read_led(ConfigReader& reader, EncoderConfig& config) {
  std::string activation = read_bart_like(reader, config);
  config.position_rows = reader.integer("max_encoder_position_embeddings", kMaxRows);
  return activation;
}

struct Family {
  std::string_view model_type;
  std::string (*read)(ConfigReader&, EncoderConfig&);  ///< returns the activation's name
};

constexpr Family kFamilies[] = {
    {"bart", &read_bart},       {"bert", &read_bert},       {"distilbert", &read_distilbert},
    {"dpr", &read_dpr},         {"led", &read_led},         {"mbart", &read_mbart},
    {"pegasus", &read_pegasus}, {"roberta", &read_roberta},
};

Result<const Family*> family_of(const std::string& model_type, const ConfigObject& file) {
  std::string known;
  for (const Family& family : kFamilies) {
    if (family.model_type == model_type) return &family;
    known.append(known.empty() ? "" : ", ").append(family.model_type);
  }
  return unavailable("'" + file.source() + "' has the model type '" + model_type +
                     "'; encoders that this program computes are " + known);
}

Status check_positions(ConfigReader& reader, const ConfigObject& file) {
  const std::string kind = reader.text_or("position_embedding_type", "absolute");
  if (!reader.status().ok()) return reader.status();
  if (kind == "absolute") return {};
  return unavailable("'" + file.source() + "' has positions of the kind '" + kind +
                     "'; encoders here have absolute ones");
}

}  // namespace

Result<EncoderConfig> read_encoder_config(const checkpoints::ModelDirectory& directory) {
  const ConfigObject& file = directory.config();
  const auto identity = checkpoints::read_model_identity(file);
  if (!identity.ok()) return identity.error();
  // AllenAI's own code saves LED as a BART with an attention window.
  const bool native_led = identity->model_type == "bart" && file.has("attention_window");
  const auto family = family_of(native_led ? "led" : identity->model_type, file);
  if (!family.ok()) return family.error();
  ConfigReader reader(file);
  EncoderConfig config;
  config.model_type = (*family)->model_type;
  config.vocabulary = reader.integer("vocab_size", kMaxRows);
  const std::string activation_name = (*family)->read(reader, config);
  if (Status status = check_positions(reader, file); !status.ok()) return status.error();
  const auto activation = nn::activation_named(activation_name, file.source());
  if (!activation.ok()) return activation.error();
  config.activation = *activation;
  if (config.hidden % config.heads != 0 || config.max_tokens() < 1) {
    return data_error("'" + file.source() + "' has impossible shapes: width " +
                      std::to_string(config.hidden) + ", " + std::to_string(config.heads) +
                      " heads, " + std::to_string(config.position_rows) + " positions");
  }
  return config;
}

}  // namespace qfs::architectures

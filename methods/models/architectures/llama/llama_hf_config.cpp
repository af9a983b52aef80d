// config.json of the LLaMA family. Sources: transformers 5.23, configuration_llama.py,
// configuration_mistral.py and configuration_qwen2.py, for names and defaults; transformers 4.30,
// configuration_open_llama.py, for BlueLM's `use_stable_embedding`.
#include <algorithm>
#include <string>

#include "methods/models/architectures/llama/llama_config.h"
#include "methods/models/architectures/llama/llama_families.h"
#include "methods/models/architectures/reading/config_reader.h"

namespace qfs::architectures {

namespace {

using checkpoints::ConfigObject;

constexpr int64_t kMaxWidth = 1 << 20;
constexpr int64_t kMaxContext = int64_t{1} << 24;

Result<const LlamaFamily*> family_of(const ConfigObject& config) {
  const auto identity = checkpoints::read_model_identity(config);
  if (!identity.ok()) return identity.error();
  std::string known;
  for (const LlamaFamily& family : kLlamaFamilies) {
    if (family.model_type == identity->model_type) return &family;
    known.append(known.empty() ? "" : ", ").append(family.model_type);
  }
  return unavailable("'" + config.source() + "' has the model type '" + identity->model_type +
                     "'; decoder-only models that this program computes are " + known);
}

Status check_rope(const checkpoints::RopeConfig& rope, const ConfigObject& config) {
  const std::string place = "'" + config.source() + "'";
  if (rope.partial_rotary_factor != 1) {
    return unavailable(place + " rotates a part of each head, which this program does not compute");
  }
  for (const std::string_view type : {"default", "linear", "dynamic", "llama3", "yarn"}) {
    if (rope.type == type) return {};
  }
  return unavailable(place + " uses RoPE scaling '" + rope.type +
                     "'; this program computes default, linear, dynamic, llama3 and yarn");
}

}  // namespace

Result<LlamaConfig> read_llama_config(const checkpoints::ModelDirectory& directory) {
  const ConfigObject& file = directory.config();
  const auto family = family_of(file);
  if (!family.ok()) return family.error();
  ConfigReader reader(file);
  LlamaConfig config;
  config.layers = reader.integer("num_hidden_layers", 4096);
  config.hidden = reader.integer("hidden_size", kMaxWidth);
  config.intermediate = reader.integer("intermediate_size", kMaxWidth);
  config.heads = reader.integer("num_attention_heads", 65536);
  config.kv_heads = reader.integer_or("num_key_value_heads", 65536, config.heads);
  config.head_dim = reader.integer_or("head_dim", 4096, config.hidden / config.heads);
  config.vocabulary = reader.integer("vocab_size", int64_t{1} << 24);
  const int64_t positions =
      reader.integer_or("max_position_embeddings", kMaxContext, (*family)->default_positions);
  config.context = positions;
  config.rms_eps = static_cast<float>(reader.real_or("rms_norm_eps", 1e-6));
  const bool optional_bias = (*family)->optional_bias && reader.boolean_or("attention_bias", false);
  config.qkv_bias = (*family)->qkv_bias || optional_bias;
  config.output_bias = optional_bias;
  config.mlp_bias = (*family)->optional_bias && reader.boolean_or("mlp_bias", false);
  config.tied = reader.boolean_or("tie_word_embeddings", false);
  config.embedding_norm = reader.boolean_or("use_stable_embedding", false);
  const bool windows = (*family)->windows.empty() || reader.boolean_or((*family)->windows, false);
  if (windows) {
    const int64_t otherwise = file.mentions("sliding_window") || (*family)->default_window == 0
                                  ? positions
                                  : (*family)->default_window;
    config.context =
        std::min(positions, reader.integer_or("sliding_window", kMaxContext, otherwise));
  }
  const std::string activation = reader.text_or("hidden_act", "silu");
  if (!reader.status().ok()) return reader.status().error();
  const auto rope = checkpoints::read_rope_config(file);
  if (!rope.ok()) return rope.error();
  config.rope = *rope;
  // The scaling kinds fall back to it (modeling_rope_utils.py).
  if (!config.rope.original_context) config.rope.original_context = positions;
  if (config.rope.factor_of_lengths) {
    config.rope.factor =
        static_cast<double>(positions) / static_cast<double>(*config.rope.original_context);
  }
  if (Status status = check_rope(config.rope, file); !status.ok()) return status.error();
  if (config.rope.type == "dynamic") {
    // Up to here the frequencies are the unscaled ones; beyond, they depend on the length of the
    // whole text, and cached keys would have been rotated by others.
    config.context = std::min(config.context, *config.rope.original_context);
  }
  if (activation != "silu") {
    return unavailable("'" + file.source() + "' has the activation '" + activation +
                       "'; this program computes silu");
  }
  if (config.heads % config.kv_heads != 0 || config.head_dim < 2 || config.head_dim % 2 != 0) {
    return data_error("'" + file.source() + "' has impossible attention shapes: " +
                      std::to_string(config.heads) + " heads, " + std::to_string(config.kv_heads) +
                      " key heads, " + std::to_string(config.head_dim) + " dimensions a head");
  }
  return config;
}

}  // namespace qfs::architectures

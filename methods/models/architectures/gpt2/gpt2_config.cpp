// Source: transformers 5.23, configuration_gpt2.py, for names and defaults.
#include "methods/models/architectures/gpt2/gpt2_config.h"

#include <string>

#include "methods/models/architectures/reading/config_reader.h"

namespace qfs::architectures {

namespace {

constexpr int64_t kMaxWidth = 1 << 20;

/// A switch of the configuration with the only value that is computed, which is its default.
struct Switch {
  const char* key;
  bool computed;
};

constexpr Switch kSwitches[] = {
    {"add_cross_attention", false},
    {"scale_attn_weights", true},
    {"scale_attn_by_inverse_layer_idx", false},
    {"reorder_and_upcast_attn", false},
};

}  // namespace

Result<Gpt2Config> read_gpt2_config(const checkpoints::ModelDirectory& directory) {
  const checkpoints::ConfigObject& file = directory.config();
  ConfigReader reader(file);
  Gpt2Config config;
  config.layers = reader.integer("n_layer", 4096);
  config.hidden = reader.integer("n_embd", kMaxWidth);
  config.intermediate = reader.integer_or("n_inner", 4 * kMaxWidth, 4 * config.hidden);
  config.heads = reader.integer("n_head", 65536);
  config.vocabulary = reader.integer("vocab_size", int64_t{1} << 24);
  config.context = reader.integer("n_positions", int64_t{1} << 24);
  config.norm_eps = reader.real_or("layer_norm_epsilon", 1e-5);
  config.tied = reader.boolean_or("tie_word_embeddings", true);
  for (const Switch& one : kSwitches) {
    const bool value = reader.boolean_or(one.key, one.computed);
    if (!reader.status().ok()) return reader.status().error();
    if (value == one.computed) continue;
    return unavailable("'" + file.source() + "' has '" + one.key + "' " + (value ? "on" : "off") +
                       ", which this program does not compute");
  }
  const std::string name = reader.text_or("activation_function", "gelu_new");
  if (!reader.status().ok()) return reader.status().error();
  const auto activation = nn::activation_named(name, file.source());
  if (!activation.ok()) return activation.error();
  config.activation = *activation;
  if (config.hidden % config.heads != 0) {
    return data_error("'" + file.source() + "' has " + std::to_string(config.heads) +
                      " heads for a width of " + std::to_string(config.hidden));
  }
  return config;
}

nn::SequenceShape shape_of(const Gpt2Config& config) {
  return {.vocabulary = config.vocabulary, .context = config.context};
}

}  // namespace qfs::architectures

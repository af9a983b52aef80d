#include "methods/models/architectures/gpt2/gpt2.h"

#include <string>
#include <utility>

#include "methods/models/architectures/reading/config_reader.h"
#include "methods/models/architectures/reading/tensor_reader.h"
#include "methods/models/checkpoints/renamed_checkpoint.h"
#include "methods/models/nn/device/decoder_network.h"
#include "methods/models/nn/weights.h"

namespace qfs::architectures {

namespace {

struct Gpt2Config {
  nn::DecoderShape shape;
  int64_t hidden = 0;
  int64_t intermediate = 0;
  double norm_eps = 0;
  nn::Activation activation = nn::Activation::gelu_tanh;
  bool tied = true;  ///< the head is the embedding
};

struct Gpt2Layer {
  nn::LayerNorm attention_norm;
  nn::Linear qkv;  ///< queries, keys, values below one another: [3 hidden, hidden]
  nn::Linear attention_output;
  nn::LayerNorm mlp_norm;
  nn::Linear up;
  nn::Linear down;
};

struct Gpt2Weights {
  Gpt2Config config;
  at::Tensor token_embeddings;  ///< [vocabulary, hidden]
  at::Tensor positions;         ///< [context, hidden]
  std::vector<Gpt2Layer> layers;
  nn::LayerNorm last_norm;
  nn::Linear head;  ///< [vocabulary, hidden], the embeddings where they are tied
};

constexpr int64_t kMaxWidth = 1 << 20;
constexpr std::string_view kPrefix = "transformer.";
constexpr nn::PartWord kWords[] = {{"wte.", "embedding"}, {"wpe.", "embedding"}, {"ln_", "norm"}};

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

Result<Gpt2Config> read_config(const checkpoints::ModelDirectory& directory) {
  const checkpoints::ConfigObject& file = directory.config();
  ConfigReader reader(file);
  Gpt2Config config;
  nn::DecoderShape& shape = config.shape;
  shape.layers = reader.integer("n_layer", 4096);
  config.hidden = reader.integer("n_embd", kMaxWidth);
  config.intermediate = reader.integer_or("n_inner", 4 * kMaxWidth, 4 * config.hidden);
  shape.heads = shape.kv_heads = reader.integer("n_head", 65536);
  shape.sequence.vocabulary = reader.integer("vocab_size", int64_t{1} << 24);
  shape.sequence.context = reader.integer("n_positions", int64_t{1} << 24);
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
  if (config.hidden % shape.heads != 0) {
    return data_error("'" + file.source() + "' has " + std::to_string(shape.heads) +
                      " heads for a width of " + std::to_string(config.hidden));
  }
  shape.head_dim = config.hidden / shape.heads;
  return config;
}

/// The list of all weights.
void visit_weights(Gpt2Weights& weights, nn::WeightVisitor& visitor) {
  const Gpt2Config& c = weights.config;
  const int64_t width = c.hidden;
  const std::vector<int64_t> table = {c.shape.sequence.vocabulary, width};
  visitor.tensor("wte.weight", weights.token_embeddings, table);
  visitor.tensor("wpe.weight", weights.positions, {c.shape.sequence.context, width});
  weights.layers.resize(static_cast<size_t>(c.shape.layers));
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    const std::string prefix = "h." + std::to_string(i) + ".";
    Gpt2Layer& layer = weights.layers[i];
    visitor.norm(prefix + "ln_1", layer.attention_norm, width);
    visitor.transposed(prefix + "attn.c_attn", layer.qkv, 3 * width, width);
    visitor.transposed(prefix + "attn.c_proj", layer.attention_output, width, width);
    visitor.norm(prefix + "ln_2", layer.mlp_norm, width);
    visitor.transposed(prefix + "mlp.c_fc", layer.up, c.intermediate, width);
    visitor.transposed(prefix + "mlp.c_proj", layer.down, width, c.intermediate);
  }
  visitor.norm("ln_f", weights.last_norm, width);
  if (c.tied) {
    visitor.tied("lm_head.weight", weights.head.weight, weights.token_embeddings, table);
  } else {
    visitor.tensor("lm_head.weight", weights.head.weight, table);
  }
}

class Gpt2Decoder final : public nn::DecoderOf<Gpt2Decoder, Gpt2Weights> {
 public:
  explicit Gpt2Decoder(std::shared_ptr<const Gpt2Weights> weights)
      : DecoderOf(std::move(weights)) {}

  const nn::DecoderShape& shape() const override { return weights_->config.shape; }
  const nn::Linear& head() const override { return weights_->head; }
  std::string_view name_prefix() const override { return kPrefix; }

  at::Tensor embed(const at::Tensor& ids, const at::Tensor& positions) const override {
    return weights_->token_embeddings.index_select(0, ids) +
           weights_->positions.index_select(0, positions);
  }
  at::Tensor embed_rows(const at::Tensor& rows, const at::Tensor& positions) const override {
    return rows + weights_->positions.index_select(0, positions);
  }

  at::Tensor layer(size_t index, const at::Tensor& stream,
                   nn::LayerOperations& run) const override {
    const Gpt2Layer& layer = weights_->layers[index];
    const at::Tensor attended =
        run.attend_past(index, layer.qkv, normed(layer.attention_norm, stream));
    const at::Tensor middle =
        run.kept(index, stream) + run.multiply(layer.attention_output, attended);
    const at::Tensor inner = run.multiply(layer.up, normed(layer.mlp_norm, middle));
    return middle + run.multiply(layer.down, nn::apply(weights_->config.activation, inner));
  }

  at::Tensor last_states(const at::Tensor& stream) const override {
    return normed(weights_->last_norm, stream);
  }

 private:
  at::Tensor normed(const nn::LayerNorm& norm, const at::Tensor& states) const {
    return nn::apply(norm, states, weights_->config.norm_eps);
  }
};

class Gpt2Network final : public nn::DecoderNetwork {
 public:
  explicit Gpt2Network(std::shared_ptr<const Gpt2Weights> weights)
      : DecoderNetwork(std::make_shared<Gpt2Decoder>(weights)), weights_(std::move(weights)) {}

  nn::ModelWork work(const nn::ElementBytes& bytes) const override {
    const Gpt2Config& c = weights_->config;
    nn::LayerStack stack;
    for (const Gpt2Layer& layer : weights_->layers) {
      nn::add_layer({&layer.qkv, &layer.attention_output, &layer.up, &layer.down},
                    {&layer.attention_norm, &layer.mlp_norm}, bytes.of_floats(), stack);
    }
    stack.width = c.hidden;
    return nn::decoder_only_work(std::move(stack), weights_->head, weights_->last_norm,
                                 2 * c.shape.layers * c.hidden, bytes);
  }

 private:
  std::shared_ptr<const Gpt2Weights> weights_;
};

Result<std::shared_ptr<const Gpt2Weights>> load_weights(
    const checkpoints::ModelDirectory& directory) {
  const auto config = read_config(directory);
  if (!config.ok()) return config.error();
  const auto stored = directory.open_weights();
  if (!stored.ok()) return stored.error();
  const auto file = checkpoints::replace_prefix(*stored, kPrefix, "");
  if (!file.ok()) return file.error();
  // The causal mask, which old files carry, and heads of other tasks.
  const std::vector<std::string> others = {"*.attn.bias", "*.attn.masked_bias", "score.*",
                                           "multiple_choice_head.*"};
  auto weights = std::make_shared<Gpt2Weights>();
  weights->config = *config;
  const Status read =
      read_weights(**file, directory.path(), others,
                   [&](nn::WeightVisitor& visitor) { visit_weights(*weights, visitor); });
  if (!read.ok()) return read.error();
  return std::shared_ptr<const Gpt2Weights>(std::move(weights));
}

}  // namespace

Result<std::shared_ptr<const nn::Decoder>> load_gpt2_decoder(
    const checkpoints::ModelDirectory& directory) {
  auto weights = load_weights(directory);
  if (!weights.ok()) return weights.error();
  return std::shared_ptr<const nn::Decoder>(std::make_shared<Gpt2Decoder>(*std::move(weights)));
}

Result<nn::ModelOutline> outline_gpt2_folder(const checkpoints::ModelDirectory& directory) {
  const auto config = read_config(directory);
  if (!config.ok()) return config.error();
  return nn::ModelOutline{.shape = config->shape.sequence,
                          .cache_elements = 2 * config->shape.layers * config->hidden,
                          .words = kWords};
}

Result<std::shared_ptr<const nn::Network>> load_gpt2_folder(
    const checkpoints::ModelDirectory& directory) {
  auto weights = load_weights(directory);
  if (!weights.ok()) return weights.error();
  return std::shared_ptr<const nn::Network>(std::make_shared<Gpt2Network>(*std::move(weights)));
}

}  // namespace qfs::architectures

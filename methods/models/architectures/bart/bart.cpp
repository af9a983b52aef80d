#include "methods/models/architectures/bart/bart.h"

#include <algorithm>
#include <string>
#include <utility>

#include "methods/models/architectures/bert/encoder_names.h"
#include "methods/models/architectures/bert/encoder_work.h"
#include "methods/models/architectures/bert/transformer_encoder.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/nn/device/decoder_network.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/windowed/windowed_attention.h"

namespace qfs::architectures {

namespace {

nn::DecoderShape bart_shape(const BartConfig& config) {
  return {.sequence = {.vocabulary = config.encoder.vocabulary,
                       .context = config.decoder_positions(),
                       .source_context = config.encoder.max_tokens(),
                       .decoder_start = config.decoder_start,
                       .global_attention = !config.windows.empty()},
          .layers = config.decoder_layers,
          .heads = config.decoder_heads,
          .kv_heads = config.decoder_heads,
          .head_dim = config.decoder_head_dim(),
          .dropout = config.encoder.dropout};
}

Status check_global(const nn::SequenceInput& input, const nn::SequenceShape& shape) {
  const auto& global = input.global_positions;
  if (global.empty()) return {};
  if (!shape.global_attention) {
    return invalid_argument("global positions for an encoder without windowed attention");
  }
  const bool increasing =
      std::ranges::adjacent_find(global, std::ranges::greater_equal{}) == global.end();
  if (increasing && global.front() >= 0 && global.back() < static_cast<int64_t>(input.ids.size())) {
    return {};
  }
  return invalid_argument("global positions must be increasing positions of the input's " +
                          std::to_string(input.ids.size()) + " tokens");
}

class BartDecoder final : public nn::DecoderOf<BartDecoder, BartWeights> {
 public:
  explicit BartDecoder(std::shared_ptr<const BartWeights> weights)
      : DecoderOf(std::move(weights)), shape_(architectures::bart_shape(weights_->config)) {
    shape_.sequence.vocabulary = weights_->head.weight.size(0);  // the head's own
  }

  const nn::DecoderShape& shape() const override { return shape_; }
  const nn::Linear& head() const override { return weights_->head; }

  at::Tensor embed(const at::Tensor& ids, const at::Tensor& positions) const override {
    const BartConfig& c = weights_->config;
    at::Tensor embedded = weights_->token_embeddings.index_select(0, ids);
    if (c.encoder.embedding_scale != 1) embedded = embedded * c.encoder.embedding_scale;
    const at::Tensor places =
        weights_->positions.narrow(0, c.decoder_first_position, c.decoder_positions());
    const at::Tensor sum = embedded + places.index_select(0, positions);
    return c.encoder.embedding_norm ? normed(weights_->norm, sum) : sum;
  }

  at::Tensor layer(size_t index, const at::Tensor& stream,
                   nn::LayerOperations& run) const override {
    const DecoderLayer& layer = weights_->layers[index];
    at::Tensor states = add(layer.self_norm, stream, [&](const at::Tensor& read) {
      const at::Tensor seen = run.attend_past(index, layer.self_qkv, read);
      return run.dropped(index, nn::LayerBlock::attention, run.multiply(layer.self_output, seen));
    });
    states = add(layer.cross_norm, states, [&](const at::Tensor& read) {
      const at::Tensor seen = run.attend_source(index, run.multiply(layer.cross_query, read));
      return run.dropped(index, nn::LayerBlock::cross_attention,
                         run.multiply(layer.cross_output, seen));
    });
    return add(layer.output_norm, states, [&](const at::Tensor& read) {
      const at::Tensor inner =
          nn::apply(weights_->config.encoder.activation, run.multiply(layer.up, read));
      return run.dropped(index, nn::LayerBlock::mlp,
                         run.multiply(layer.down, run.dropped_activations(index, inner)));
    });
  }

  at::Tensor last_states(const at::Tensor& stream) const override {
    return weights_->config.encoder.pre_norm ? normed(weights_->last_norm, stream) : stream;
  }

  std::string_view name_prefix() const override {
    return encoder_names(weights_->config.encoder.model_type).prefix;
  }

  Result<at::Tensor> encode(const nn::SequenceInput& input,
                            nn::Recompute recompute) const override {
    if (Status status = check_global(input, shape_.sequence); !status.ok()) return status.error();
    const TransformerEncoder encoder(weights_->encoder, input.adapters, recompute, input.dropout);
    const EncoderInput text = {input.ids, {}};
    if (!shape_.sequence.global_attention) {
      return encoder.hidden_states({&text, 1}, encoder.config().layers);
    }
    return nn::guarded("encoding a text", [&] {
      const auto attention = std::make_shared<nn::WindowedAttention>(
          weights_->config.windows, weights_->global, input.global_positions,
          static_cast<int64_t>(input.ids.size()), device(), input.adapters, input.dropout);
      return encoder.hidden_states(text, attention);
    });
  }

  at::Tensor source_keys_values(size_t layer, const at::Tensor& states,
                                const nn::Adapters* adapters) const override {
    return nn::adapted(weights_->layers[layer].cross_key_value, states, adapters)
        .view({states.size(1), 2, shape_.heads, shape_.head_dim})
        .permute({1, 2, 0, 3});
  }

 private:
  at::Tensor normed(const nn::LayerNorm& norm, const at::Tensor& states) const {
    return nn::apply(norm, states, weights_->config.encoder.norm_eps);
  }

  /// Residual states after a block, with its norm before it or after the sum.
  template <class Block>
  at::Tensor add(const nn::LayerNorm& norm, const at::Tensor& states, const Block& block) const {
    if (weights_->config.encoder.pre_norm) return states + block(normed(norm, states));
    return normed(norm, states + block(states));
  }

  nn::DecoderShape shape_;
};

class BartNetwork final : public nn::DecoderNetwork {
 public:
  explicit BartNetwork(std::shared_ptr<const BartWeights> weights, std::string variant = "")
      : DecoderNetwork(make_bart_decoder(weights), std::move(variant)),
        weights_(std::move(weights)) {}

  nn::ModelWork work(const nn::ElementBytes& bytes) const override {
    const BartConfig& c = weights_->config;
    const int64_t element = bytes.of_floats();
    const int64_t hidden = c.encoder.hidden;
    nn::ModelWork work;
    work.causal = false;
    work.windows = c.windows;
    work.input = encoder_stack(*weights_->encoder, element);
    work.input.matrices.push_back({2 * hidden, hidden, c.decoder_layers});
    for (const DecoderLayer& layer : weights_->layers) {
      work.input.bytes += element * nn::linear_elements({&layer.cross_key_value});
      nn::add_layer({&layer.self_qkv, &layer.self_output, &layer.cross_query, &layer.cross_output,
                     &layer.up, &layer.down},
                    {&layer.self_norm, &layer.cross_norm, &layer.output_norm}, element,
                    work.output);
    }
    work.output.width = hidden;
    for (const nn::GlobalProjections& global : weights_->global) {
      work.global_bytes += element * nn::linear_elements({&global.query, &global.key_value});
    }
    work.head = {weights_->head.weight.size(0), hidden, 1};
    work.head_bytes = element * nn::linear_elements({&weights_->head});
    work.cache_bytes = c.cache_elements() * bytes.caches;
    work.source_bytes = work.cache_bytes;
    return work;
  }

  Result<std::shared_ptr<const nn::Network>> windowed(int64_t window,
                                                      int64_t positions) const override {
    if (weights_->config.encoder.model_type != "bart" || window % 2 != 0) {
      return invalid_argument("a window of " + std::to_string(window) + " positions for a " +
                              weights_->config.encoder.model_type +
                              "; only BART backbones take one, and it is even");
    }
    return nn::guarded(
        "giving an encoder windows", [&]() -> Result<std::shared_ptr<const nn::Network>> {
          std::string variant = std::to_string(window);
          variant.append("x").append(std::to_string(positions));
          return std::shared_ptr<const nn::Network>(
              std::make_shared<BartNetwork>(led_from_bart(*weights_, window, positions), variant));
        });
  }

 private:
  std::shared_ptr<const BartWeights> weights_;
};

}  // namespace

std::shared_ptr<const nn::Decoder> make_bart_decoder(std::shared_ptr<const BartWeights> weights) {
  return std::make_shared<BartDecoder>(std::move(weights));
}

Result<nn::ModelOutline> outline_bart_folder(const checkpoints::ModelDirectory& directory) {
  const auto config = read_bart_config(directory);
  if (!config.ok()) return config.error();
  return nn::ModelOutline{.shape = bart_shape(*config).sequence,
                          .cache_elements = config->cache_elements()};
}

Result<std::shared_ptr<const nn::Network>> load_bart_folder(
    const checkpoints::ModelDirectory& directory) {
  auto weights = load_bart_weights(directory);
  if (!weights.ok()) return weights.error();
  return std::shared_ptr<const nn::Network>(std::make_shared<BartNetwork>(*std::move(weights)));
}

}  // namespace qfs::architectures

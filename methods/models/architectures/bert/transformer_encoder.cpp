#include "methods/models/architectures/bert/transformer_encoder.h"

#include <ATen/ops/embedding.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <optional>
#include <string>

#include "methods/models/nn/input_checks.h"
#include "methods/models/nn/runtime/device_runtime.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/trained_weights.h"

namespace qfs::architectures {

namespace {

/// Which keys a query may see: [texts, 1, 1, longest]; undefined when no text is shorter than
/// another, so that a text alone takes the path without a mask.
at::Tensor key_mask(std::span<const EncoderInput> texts, int64_t longest, at::Device device) {
  at::Tensor mask = at::zeros({static_cast<int64_t>(texts.size()), 1, 1, longest}, at::kBool);
  bool padded = false;
  bool* rows = mask.mutable_data_ptr<bool>();
  for (size_t i = 0; i < texts.size(); ++i) {
    std::fill_n(rows + static_cast<int64_t>(i) * longest, texts[i].ids.size(), true);
    padded = padded || static_cast<int64_t>(texts[i].ids.size()) < longest;
  }
  return padded ? mask.to(device) : at::Tensor();
}

}  // namespace

Status TransformerEncoder::check(const EncoderInput& text) const {
  const EncoderConfig& c = config();
  const auto length = static_cast<int64_t>(text.ids.size());
  if (length == 0 || length > c.max_tokens()) {
    return invalid_argument("a text of " + std::to_string(length) +
                            " tokens; the encoder reads 1 to " + std::to_string(c.max_tokens()));
  }
  if (Status status = nn::check_token_ids(text.ids, c.vocabulary); !status.ok()) return status;
  if (!text.segments.empty() && text.segments.size() != text.ids.size()) {
    return invalid_argument(std::to_string(text.segments.size()) + " segments for " +
                            std::to_string(length) + " tokens");
  }
  for (const int32_t segment : text.segments) {
    if (segment < 0 || segment >= std::max<int64_t>(c.segments, 1)) {
      return invalid_argument("segment " + std::to_string(segment) +
                              " is not one of the encoder's " + std::to_string(c.segments));
    }
  }
  return {};
}

at::Tensor TransformerEncoder::embed(std::span<const EncoderInput> texts, int64_t longest) const {
  const EncoderConfig& c = config();
  const auto count = static_cast<int64_t>(texts.size());
  const at::Tensor ids = at::full({count, longest}, c.padding_id, at::kLong);
  const at::Tensor positions = at::zeros({count, longest}, at::kLong);
  const at::Tensor segments = at::zeros({count, longest}, at::kLong);
  for (int64_t i = 0; i < count; ++i) {
    const EncoderInput& text = texts[static_cast<size_t>(i)];
    std::ranges::copy(text.ids, ids.mutable_data_ptr<int64_t>() + i * longest);
    std::ranges::copy(text.segments, segments.mutable_data_ptr<int64_t>() + i * longest);
    int64_t* position = positions.mutable_data_ptr<int64_t>() + i * longest;
    int64_t next = c.first_position;
    for (const int32_t id : text.ids) {
      const bool none = c.padding_has_no_position && id == c.padding_id;
      *position++ = none ? c.padding_id : next++;
    }
  }
  const at::Device device = weights_->token_embeddings.device();
  at::Tensor sum = at::embedding(weights_->token_embeddings, ids.to(device));
  if (c.embedding_scale != 1) sum = sum * c.embedding_scale;
  if (c.segments > 0) sum = sum + at::embedding(weights_->segments, segments.to(device));
  sum = sum + at::embedding(weights_->positions, positions.to(device));
  if (c.embedding_norm) sum = nn::apply(weights_->norm, sum, c.norm_eps);
  return dropped(sum, nn::embedding_place(false));
}

at::Tensor TransformerEncoder::read_by(const EncoderLayer& layer, const at::Tensor& states) const {
  const EncoderConfig& c = config();
  return c.pre_norm ? nn::apply(layer.attention_norm, states, c.norm_eps) : states;
}

at::Tensor TransformerEncoder::last(const at::Tensor& states) const {
  const EncoderConfig& c = config();
  return c.pre_norm ? nn::apply(weights_->last_norm, states, c.norm_eps) : states;
}

at::Tensor TransformerEncoder::project(const EncoderLayer& layer, const at::Tensor& read) const {
  const EncoderConfig& c = config();
  return multiply(layer.qkv, read)
      .view({read.size(0), read.size(1), 3, c.heads, c.head_dim()})
      .permute({2, 0, 3, 1, 4});
}

at::Tensor TransformerEncoder::finish_layer(size_t index, const at::Tensor& states,
                                            const at::Tensor& attended) const {
  const EncoderConfig& c = config();
  const EncoderLayer& layer = weights_->layers[index];
  const at::Tensor joined = attended.transpose(1, 2).reshape(states.sizes());
  const at::Tensor sum = states + dropped(multiply(layer.attention_output, joined),
                                          nn::block_place(false, index, nn::LayerBlock::attention));
  const auto feed_forward = [&](const at::Tensor& read) {
    const uint64_t place = nn::block_place(false, index, nn::LayerBlock::mlp);
    at::Tensor inner = nn::apply(c.activation, multiply(layer.up, read));
    if (dropout_ != nullptr) inner = dropout_->of_activation(inner, place);
    return dropped(multiply(layer.down, inner), place);
  };
  if (c.pre_norm) return sum + feed_forward(nn::apply(layer.output_norm, sum, c.norm_eps));
  const at::Tensor middle = nn::apply(layer.attention_norm, sum, c.norm_eps);
  return nn::apply(layer.output_norm, middle + feed_forward(middle), c.norm_eps);
}

Result<at::Tensor> TransformerEncoder::hidden_states(std::span<const EncoderInput> texts,
                                                     int64_t layers) const {
  if (texts.empty()) return invalid_argument("no texts to encode");
  if (layers < 0 || layers > config().layers) {
    return invalid_argument("layer " + std::to_string(layers) + " of an encoder that has " +
                            std::to_string(config().layers));
  }
  int64_t longest = 0;
  for (const EncoderInput& text : texts) {
    if (Status status = check(text); !status.ok()) return status.error();
    longest = std::max(longest, static_cast<int64_t>(text.ids.size()));
  }
  return nn::guarded("encoding texts", [&]() -> Result<at::Tensor> {
    const at::Tensor mask = key_mask(texts, longest, weights_->token_embeddings.device());
    const std::optional<at::Tensor> keys_seen =
        mask.defined() ? std::optional<at::Tensor>(mask) : std::nullopt;
    std::optional<nn::MaskedAttention> allowed;
    if (keys_seen) allowed.emplace();
    const at::Tensor states = run_layers(
        embed(texts, longest), layers,
        [keys_seen, dropout = dropout_](int64_t layer, const at::Tensor&, const at::Tensor& qkv) {
          const uint64_t place =
              nn::block_place(false, static_cast<size_t>(layer), nn::LayerBlock::attention);
          return nn::attention(qkv.select(0, 0), qkv.select(0, 1), qkv.select(0, 2),
                               {.mask = keys_seen}, dropout.get(), place);
        },
        {});
    return layers == config().layers ? last(states) : states;
  });
}

Result<at::Tensor> TransformerEncoder::hidden_states(
    const EncoderInput& text, std::shared_ptr<const nn::LayerAttention> attention) const {
  if (Status status = check(text); !status.ok()) return status.error();
  return nn::guarded("encoding a text", [&]() -> Result<at::Tensor> {
    const at::Tensor states = embed({&text, 1}, static_cast<int64_t>(text.ids.size()));
    return last(run_layers(
        states, config().layers,
        [attention](int64_t i, const at::Tensor& read, const at::Tensor& qkv) {
          return attention->attend(i, read, qkv);
        },
        attention->trained()));
  });
}

at::Tensor TransformerEncoder::run_layers(at::Tensor states, int64_t layers, const Attend& attend,
                                          std::vector<at::Tensor> trained) const {
  if (recompute_ != nn::Recompute::nothing) {
    if (adapters_) {
      trained.insert(trained.end(), adapters_->trained().begin(), adapters_->trained().end());
    }
    EncoderWeights shown = *weights_;
    const std::vector<at::Tensor> own = nn::trained_among(
        [&](nn::WeightVisitor& visitor) { visit_weights(shown, "embeddings", visitor); });
    trained.insert(trained.end(), own.begin(), own.end());
  }
  for (int64_t i = 0; i < layers; ++i) {
    // Owns the weights and adapters too, since it may run again after this encoder has gone.
    const auto run = [encoder = *this, attend, i](std::span<const at::Tensor> inputs) {
      const at::Tensor& entering = inputs.front();
      const auto index = static_cast<size_t>(i);
      const EncoderLayer& layer = encoder.weights_->layers[index];
      const at::Tensor read = encoder.read_by(layer, entering);
      return encoder.finish_layer(index, entering, attend(i, read, encoder.project(layer, read)));
    };
    states = nn::run_block(recompute_, {&states, 1}, trained, run);
  }
  return states;
}

}  // namespace qfs::architectures

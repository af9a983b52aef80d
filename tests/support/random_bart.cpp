#include "tests/support/random_bart.h"

#include <ATen/ATen.h>

namespace qfs::test {

using architectures::BartConfig;
using architectures::BartWeights;
using architectures::EncoderWeights;
using nn::LayerNorm;
using nn::Linear;

BartShape bart_base_shape() {
  return {.layers = 6,
          .hidden = 768,
          .heads = 12,
          .intermediate = 3072,
          .vocabulary = 50265,
          .positions = 1024,
          .spread = 0.04};
}

std::shared_ptr<const BartWeights> random_bart(const BartShape& shape) {
  at::manual_seed(1);
  const int64_t hidden = shape.hidden;
  const int64_t inner = shape.intermediate;
  const auto random = [&](at::IntArrayRef extent) { return at::randn(extent) * shape.spread; };
  const auto linear = [&](int64_t outputs, int64_t inputs) {
    return Linear{random({outputs, inputs}), random({outputs})};
  };
  const auto norm = [&] { return LayerNorm{random({hidden}) + 1, random({hidden})}; };
  BartConfig config;
  config.encoder = {.model_type = "bart",
                    .layers = shape.layers,
                    .hidden = hidden,
                    .intermediate = inner,
                    .heads = shape.heads,
                    .vocabulary = shape.vocabulary,
                    .position_rows = shape.positions + 2,
                    .first_position = 2,
                    .padding_id = 1,
                    .norm_eps = 1e-5};
  config.decoder_layers = shape.layers;
  config.decoder_heads = shape.heads;
  config.decoder_intermediate = inner;
  config.decoder_position_rows = config.encoder.position_rows;
  config.decoder_first_position = config.encoder.first_position;
  config.decoder_start = {2};
  auto encoder = std::make_shared<EncoderWeights>();
  encoder->config = config.encoder;
  encoder->token_embeddings = random({shape.vocabulary, hidden});
  encoder->positions = random({config.encoder.position_rows, hidden});
  encoder->norm = norm();
  auto weights = std::make_shared<BartWeights>();
  for (int64_t i = 0; i < shape.layers; ++i) {
    encoder->layers.push_back({linear(3 * hidden, hidden), linear(hidden, hidden), norm(),
                               linear(inner, hidden), linear(hidden, inner), norm()});
    weights->layers.push_back({.self_qkv = linear(3 * hidden, hidden),
                               .self_output = linear(hidden, hidden),
                               .self_norm = norm(),
                               .cross_query = linear(hidden, hidden),
                               .cross_key_value = linear(2 * hidden, hidden),
                               .cross_output = linear(hidden, hidden),
                               .cross_norm = norm(),
                               .up = linear(inner, hidden),
                               .down = linear(hidden, inner),
                               .output_norm = norm()});
  }
  weights->config = config;
  weights->encoder = encoder;
  weights->token_embeddings = encoder->token_embeddings;
  weights->positions = random({config.decoder_position_rows, hidden});
  weights->norm = norm();
  weights->head = {weights->token_embeddings, random({shape.vocabulary})};
  return weights;
}

}  // namespace qfs::test

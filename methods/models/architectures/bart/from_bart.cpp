#include "methods/models/architectures/bart/from_bart.h"

#include <algorithm>

namespace qfs::architectures {

namespace {

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

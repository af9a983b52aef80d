#include "tests/gpu/bench_bart.h"

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "methods/models/architectures/bart/bart.h"
#include "methods/models/architectures/bart/bart_weights.h"
#include "methods/models/nn/device/device_model.h"
#include "tests/gpu/measuring.h"

namespace qfs::test {

namespace {

using architectures::BartConfig;
using architectures::BartWeights;
using architectures::DecoderLayer;
using architectures::EncoderLayer;
using architectures::EncoderWeights;
using nn::LayerNorm;
using nn::Linear;
using nn::SequenceModel;

BartConfig config_of(bool tiny) {
  BartConfig config;
  config.encoder = {.model_type = "bart",
                    .layers = tiny ? 2 : 12,
                    .hidden = tiny ? 64 : 1024,
                    .intermediate = tiny ? 128 : 4096,
                    .heads = tiny ? 4 : 16,
                    .vocabulary = tiny ? 300 : 50265,
                    .position_rows = 1026,
                    .first_position = 2,
                    .padding_id = 1,
                    .norm_eps = 1e-5};
  config.decoder_layers = config.encoder.layers;
  config.decoder_heads = config.encoder.heads;
  config.decoder_intermediate = config.encoder.intermediate;
  config.decoder_position_rows = config.encoder.position_rows;
  config.decoder_first_position = config.encoder.first_position;
  config.decoder_start = {2};
  return config;
}

std::shared_ptr<const BartWeights> random_weights(const BartConfig& config, at::Device device) {
  const auto options = at::TensorOptions().device(device).dtype(at::kBFloat16);
  const int64_t hidden = config.encoder.hidden;
  const auto random = [&](at::IntArrayRef shape) { return at::randn(shape, options) * 0.02; };
  const auto linear = [&](int64_t outputs, int64_t inputs) {
    return Linear{random({outputs, inputs}), random({outputs})};
  };
  const LayerNorm norm = {at::ones({hidden}, options), at::zeros({hidden}, options)};
  auto encoder = std::make_shared<EncoderWeights>();
  encoder->config = config.encoder;
  encoder->token_embeddings = random({config.encoder.vocabulary, hidden});
  encoder->positions = random({config.encoder.position_rows, hidden});
  encoder->norm = norm;
  const int64_t inner = config.encoder.intermediate;
  for (int64_t i = 0; i < config.encoder.layers; ++i) {
    encoder->layers.push_back(EncoderLayer{linear(3 * hidden, hidden), linear(hidden, hidden), norm,
                                           linear(inner, hidden), linear(hidden, inner), norm});
  }
  auto weights = std::make_shared<BartWeights>();
  weights->config = config;
  weights->encoder = encoder;
  weights->token_embeddings = encoder->token_embeddings;
  weights->positions = random({config.decoder_position_rows, hidden});
  weights->norm = norm;
  for (int64_t i = 0; i < config.decoder_layers; ++i) {
    weights->layers.push_back(DecoderLayer{.self_qkv = linear(3 * hidden, hidden),
                                           .self_output = linear(hidden, hidden),
                                           .self_norm = norm,
                                           .cross_query = linear(hidden, hidden),
                                           .cross_key_value = linear(2 * hidden, hidden),
                                           .cross_output = linear(hidden, hidden),
                                           .cross_norm = norm,
                                           .up = linear(inner, hidden),
                                           .down = linear(hidden, inner),
                                           .output_norm = norm});
  }
  weights->head = {weights->token_embeddings, at::zeros({config.encoder.vocabulary}, options)};
  return weights;
}

struct Setting {
  BartConfig config;
  int64_t source = 0;  ///< tokens
  int64_t steps = 0;
  int repetitions = 0;
};

/// What a step reads: the decoder's weights, the head, and each layer's keys and values.
double bytes_of_step(const Setting& setting) {
  const BartConfig& c = setting.config;
  const int64_t hidden = c.encoder.hidden;
  const int64_t layer = 6 * hidden * hidden + 2 * hidden * c.decoder_intermediate;
  const int64_t positions = setting.source + setting.steps / 2;
  return 2.0 * static_cast<double>(c.decoder_layers * (layer + 2 * positions * hidden) +
                                   c.encoder.vocabulary * hidden);
}

/// Seconds a step of `rows` rows that go on from one source.
double measure(SequenceModel& model, const Setting& setting, size_t rows, double copy_rate,
               nlohmann::json& report) {
  const int64_t vocabulary = setting.config.encoder.vocabulary;
  std::vector<float> logits(rows * static_cast<size_t>(vocabulary));
  std::vector<int32_t> source(static_cast<size_t>(setting.source));
  for (size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<int32_t>(static_cast<int64_t>(i) * 7919 % vocabulary);
  }
  std::vector<int64_t> all(rows);
  for (size_t r = 0; r < rows; ++r) all[r] = static_cast<int64_t>(r);
  const auto prepare = [&] {
    must(model.begin(static_cast<int64_t>(rows), setting.steps + 1));
    must(model.prefill(0, {.ids = source}, {logits.data(), static_cast<size_t>(vocabulary)}));
    must(model.reassign(all, std::vector<int64_t>(rows, 0)));
  };
  const auto seconds = seconds_of(
      setting.repetitions,
      [&] {
        for (int64_t i = 0; i < setting.steps; ++i) {
          const auto token = static_cast<int32_t>(i * 31 % vocabulary);
          must(model.decode(all, std::vector<int32_t>(rows, token), logits));
        }
      },
      prepare);
  const double step = median(seconds) / static_cast<double>(setting.steps);
  const double rate = bytes_of_step(setting) / step;
  report = {{"seconds", seconds},
            {"seconds_per_step", step},
            {"bytes_per_second", rate},
            {"of_copy_rate", rate / copy_rate}};
  return step;
}

}  // namespace

void measure_bart(bool tiny, at::Device device, const nn::DeviceServices& services,
                  double copy_rate, nlohmann::json& report) {
  const Setting setting = {config_of(tiny), tiny ? 300 : 1024, tiny ? 8 : 128, tiny ? 3 : 9};
  const auto weights = random_weights(setting.config, device);
  nn::DeviceServices eager = services;
  eager.graphs = nullptr;
  const auto recording =
      std::make_unique<qfs::nn::DeviceModel>(make_bart_decoder(weights), services);
  const auto launching = std::make_unique<qfs::nn::DeviceModel>(make_bart_decoder(weights), eager);
  for (const auto& [name, rows] : {std::pair("bart_decode", 1), std::pair("bart_beams", 4)}) {
    nlohmann::json& result = report[name];
    result = {{"rows", rows}, {"source_tokens", setting.source}, {"steps", setting.steps}};
    const auto count = static_cast<size_t>(rows);
    const double with = measure(*recording, setting, count, copy_rate, result["with_graphs"]);
    const double without = measure(*launching, setting, count, copy_rate, result["without_graphs"]);
    result["without_over_with"] = without / with;
  }
}

}  // namespace qfs::test

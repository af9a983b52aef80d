// Sources: transformers 5.23, configuration_{bart,led,mbart,pegasus}.py; AllenAI's Longformer
// code for the configuration that it saves itself.
#include "methods/models/architectures/bart/bart_config.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "methods/models/architectures/reading/config_reader.h"
#include "methods/models/checkpoints/architecture.h"
#include "methods/models/checkpoints/model_config.h"

namespace qfs::architectures {

namespace {

using checkpoints::ConfigObject;

constexpr int64_t kMaxPositions = int64_t{1} << 24;

/// `attention_window`: an integer for all layers, or one a layer. transformers counts both sides,
/// AllenAI's code one.
Result<std::vector<nn::Window>> read_windows(const ConfigObject& file, int64_t layers,
                                             bool native) {
  const auto given = file.integers("attention_window");
  if (!given.ok()) return given.error();
  std::vector<int64_t> widths = *given;
  if (widths.empty()) widths.assign(1, 512);
  if (widths.size() == 1) widths.resize(static_cast<size_t>(layers), widths.front());
  const bool blocks = native && file.text_or("attention_mode", "").ok() &&
                      *file.text_or("attention_mode", "") == "sliding_chunks_no_overlap";
  std::vector<nn::Window> windows;
  for (const int64_t width : widths) {
    if (width < 1 || width > kMaxPositions || (!native && width % 2 != 0)) {
      return data_error(
          "a window of " + std::to_string(width) + "; expected a positive even number",
          file.place("attention_window"));
    }
    windows.push_back({native ? width : width / 2, blocks});
  }
  if (static_cast<int64_t>(windows.size()) == layers) return windows;
  return data_error(std::to_string(windows.size()) + " windows for " + std::to_string(layers) +
                        " layers of the encoder",
                    file.place("attention_window"));
}

/// What the decoder begins with, as in generate(): what the settings of generation name, or BOS.
/// Settings with neither, which generate() refuses, leave it to the configuration, as in forward().
Result<std::vector<int32_t>> read_decoder_start(const checkpoints::ModelDirectory& directory,
                                                std::string_view model_type, int64_t vocabulary) {
  constexpr std::string_view kStart = "decoder_start_token_id";
  const ConfigObject& settings = directory.generation_config();
  const ConfigObject& config = directory.config();
  const int32_t of_class = model_type == "mbart" || model_type == "pegasus" ? 0 : 2;
  const auto read = [&](const ConfigObject& file, std::string_view key) {
    return file.integer_or(key, 0, vocabulary - 1, of_class);
  };
  const auto start = settings.has(kStart)           ? read(settings, kStart)
                     : settings.has("bos_token_id") ? read(settings, "bos_token_id")
                                                    : read(config, kStart);
  if (!start.ok()) return start.error();
  return std::vector<int32_t>{static_cast<int32_t>(*start)};
}

}  // namespace

Result<BartConfig> read_bart_config(const checkpoints::ModelDirectory& directory) {
  const ConfigObject& file = directory.config();
  const auto encoder = read_encoder_config(directory);
  if (!encoder.ok()) return encoder.error();
  BartConfig config;
  config.encoder = *encoder;
  const bool led = encoder->model_type == "led";
  const auto architecture = checkpoints::architecture_of(directory);
  if (!architecture.ok() || (*architecture)->name != "bart") {
    return unavailable("'" + file.source() + "' has the model type '" + encoder->model_type +
                       "', which is no encoder-decoder of the BART family");
  }
  ConfigReader reader(file);
  config.decoder_layers = reader.integer("decoder_layers", 4096);
  config.decoder_heads = reader.integer("decoder_attention_heads", 65536);
  config.decoder_intermediate = reader.integer("decoder_ffn_dim", int64_t{1} << 20);
  config.decoder_first_position = config.encoder.first_position;
  config.decoder_position_rows =
      reader.integer(led ? "max_decoder_position_embeddings" : "max_position_embeddings",
                     kMaxPositions) +
      config.decoder_first_position;
  config.tied = reader.boolean_or("tie_word_embeddings", true);
  if (!reader.status().ok()) return reader.status().error();
  if (config.encoder.hidden % config.decoder_heads != 0) {
    return data_error("'" + file.source() + "' has " + std::to_string(config.decoder_heads) +
                      " decoder heads for a width of " + std::to_string(config.encoder.hidden));
  }
  const auto start = read_decoder_start(directory, encoder->model_type, config.encoder.vocabulary);
  if (!start.ok()) return start.error();
  config.decoder_start = *start;
  if (!led) return config;
  const auto identity = checkpoints::read_model_identity(file);
  const bool native = identity.ok() && identity->model_type == "bart";
  auto windows = read_windows(file, config.encoder.layers, native);
  if (!windows.ok()) return windows.error();
  config.windows = *std::move(windows);
  return config;
}

}  // namespace qfs::architectures

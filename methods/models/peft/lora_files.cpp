#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/core/files.h"
#include "methods/models/checkpoints/config_object.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/peft/lora.h"
#include "methods/models/peft/tensor_files.h"

namespace qfs::peft {

namespace {

using checkpoints::ConfigObject;
using checkpoints::TensorEntry;

constexpr int64_t kMaxRank = 1 << 16;
constexpr std::string_view kFilePrefix = "base_model.model.";

/// Settings whose only value that is computed is their default: false, none or nothing.
constexpr const char* kUncomputed[] = {"use_dora",
                                       "modules_to_save",
                                       "layer_replication",
                                       "megatron_config",
                                       "alora_invocation_tokens",
                                       "rank_pattern",
                                       "alpha_pattern",
                                       "trainable_token_indices",
                                       "target_parameters",
                                       "lora_bias",
                                       "use_qalora",
                                       "use_bdlora",
                                       "kasa_config",
                                       "monteclora_config",
                                       "velora_config",
                                       "arrow_config",
                                       "exclude_modules",
                                       "layers_to_transform"};

/// Whether a setting is there and neither false nor empty.
bool set_in(const ConfigObject& file, const char* key) {
  if (!file.has(key) || file.empty_list(key)) return false;
  if (const auto flag = file.boolean(key); flag.ok()) return *flag;
  if (const auto object = file.object(key); object.ok() && *object)
    return !(*object)->keys().empty();
  return true;
}

Result<LoraConfig> parse_config(const ConfigObject& file) {
  const auto kind = file.text_or("peft_type", "LORA");
  if (!kind.ok()) return kind.error();
  if (*kind != "LORA") {
    return unavailable("'" + file.source() + "' has the adapter type '" + *kind +
                       "'; this program reads LORA");
  }
  for (const char* key : kUncomputed) {
    if (set_in(file, key)) {
      return unavailable("'" + file.source() + "' has '" + key +
                         "', which this program does not compute");
    }
  }
  const auto bias = file.text_or("bias", "none");
  if (!bias.ok()) return bias.error();
  if (*bias != "none") {
    return unavailable("'" + file.source() + "' has 'bias' \"" + *bias +
                       "\"; this program computes \"none\"");
  }
  LoraConfig config;
  const auto rank = file.integer("r", 1, kMaxRank);
  if (!rank.ok()) return rank.error();
  config.rank = *rank;
  const auto alpha = file.real_or("lora_alpha", static_cast<double>(*rank));
  if (!alpha.ok()) return alpha.error();
  config.alpha = *alpha;
  const auto stable = file.boolean_or("use_rslora", false);
  if (!stable.ok()) return stable.error();
  config.rank_stable = *stable;
  // A regular expression or "all-linear" says nothing that the tensors' names do not.
  if (auto targets = file.texts("target_modules"); targets.ok()) {
    config.targets = *std::move(targets);
    std::ranges::sort(config.targets);
  }
  return config;
}

/// The configuration beside the tensors, or what our own metadata say.
Result<std::optional<LoraConfig>> find_config(const std::string& tensors,
                                              const checkpoints::Checkpoint& file) {
  const auto beside = std::filesystem::path(tensors).parent_path() / kLoraConfig;
  std::error_code error;
  std::optional<ConfigObject> object;
  if (std::filesystem::exists(beside, error)) {
    auto read = ConfigObject::read(beside.string());
    if (!read.ok()) return read.error();
    object = *std::move(read);
  } else if (const auto own = file.metadata().find("qfs.peft"); own != file.metadata().end()) {
    auto parsed = ConfigObject::parse(own->second, tensors + "#qfs.peft");
    if (!parsed.ok()) return parsed.error();
    object = *std::move(parsed);
  }
  if (!object) return std::optional<LoraConfig>();
  auto config = parse_config(*object);
  if (!config.ok()) return config.error();
  return std::optional<LoraConfig>(*std::move(config));
}

/// What a tensor's name says.
struct TensorName {
  std::string layer;
  bool down = false;
};

Result<TensorName> parse_name(const std::string& name, const std::string& source) {
  std::string_view rest = name;
  if (rest.starts_with(kFilePrefix)) rest.remove_prefix(kFilePrefix.size());
  constexpr std::pair<std::string_view, bool> kEnds[] = {{".lora_A.weight", true},
                                                         {".lora_B.weight", false},
                                                         {".lora_A.default.weight", true},
                                                         {".lora_B.default.weight", false}};
  for (const auto& [end, down] : kEnds) {
    if (!rest.ends_with(end)) continue;
    rest.remove_suffix(end.size());
    return TensorName{std::string(rest), down};
  }
  return unavailable("the tensor '" + name + "' is no low-rank matrix of a linear layer", source);
}

Result<at::Tensor> read_values(const checkpoints::Checkpoint& file, const TensorEntry& entry,
                               bool matrix) {
  if ((matrix && entry.shape.size() != 2) || entry.elements == 0) {
    return data_error("'" + entry.name + "' has the shape " + checkpoints::shape_text(entry.shape) +
                          "; expected " + (matrix ? "a matrix" : "values"),
                      file.path());
  }
  return read_tensor(file, entry);
}

nlohmann::json config_json(const LoraConfig& config, bool transposed, bool encoder_decoder) {
  // Whole numbers as such, as peft writes them.
  const nlohmann::json alpha =
      config.alpha == static_cast<double>(static_cast<int64_t>(config.alpha))
          ? nlohmann::json(static_cast<int64_t>(config.alpha))
          : nlohmann::json(config.alpha);
  return {{"peft_type", "LORA"},
          {"task_type", encoder_decoder ? "SEQ_2_SEQ_LM" : "CAUSAL_LM"},
          {"base_model_name_or_path", nullptr},
          {"r", config.rank},
          {"lora_alpha", alpha},
          {"lora_dropout", 0.0},
          {"use_rslora", config.rank_stable},
          {"target_modules", config.targets},
          {"bias", "none"},
          {"fan_in_fan_out", transposed},
          {"inference_mode", true},
          {"modules_to_save", nullptr}};
}

}  // namespace

Result<LoraAdapter> read_lora(const std::string& path) {
  std::error_code error;
  const std::string tensors = std::filesystem::is_directory(path, error)
                                  ? (std::filesystem::path(path) / kLoraTensors).string()
                                  : path;
  const auto opened = checkpoints::open_safetensors(tensors);
  if (!opened.ok()) return opened.error();
  const checkpoints::Checkpoint& file = **opened;
  const auto config = find_config(tensors, file);
  if (!config.ok()) return config.error();
  LoraAdapter adapter;
  adapter.metadata = file.metadata();
  for (const TensorEntry& entry : file.tensors()) {
    if (is_memory_tensor(entry.name)) {
      auto values = read_values(file, entry, false);
      if (!values.ok()) return values.error();
      adapter.memory[entry.name] = *std::move(values);
      continue;
    }
    const auto name = parse_name(entry.name, tensors);
    if (!name.ok()) return name.error();
    auto matrix = read_values(file, entry, true);
    if (!matrix.ok()) return matrix.error();
    nn::LowRank& added = adapter.layers[name->layer];
    at::Tensor& place = name->down ? added.down : added.up;
    if (place.defined()) {
      return data_error("'" + entry.name + "' is one of two matrices for one layer", tensors);
    }
    place = *std::move(matrix);
  }
  if (adapter.layers.empty()) return data_error("no low-rank matrices", tensors);
  for (const auto& [name, added] : adapter.layers) {
    if (added.down.defined() && added.up.defined()) continue;
    return data_error("'" + name + "' has only its lora_" + (added.down.defined() ? "A" : "B"),
                      tensors);
  }
  const int64_t rank = adapter.layers.begin()->second.down.size(0);
  if (*config) adapter.config = **config;
  if (!*config) adapter.config = {.rank = rank, .alpha = static_cast<double>(rank)};
  for (auto& [name, added] : adapter.layers) {
    added.scale = adapter.config.scale();
    if (added.down.size(0) == adapter.config.rank && added.up.size(1) == adapter.config.rank) {
      continue;
    }
    return data_error("'" + name + "' has the rank " + std::to_string(added.down.size(0)) +
                          "; 'r' is " + std::to_string(adapter.config.rank),
                      tensors);
  }
  return adapter;
}

LoraFiles lora_files(const LoraAdapter& adapter, const nn::Decoder& decoder, at::ScalarType type) {
  const std::string prefix = std::string(kFilePrefix).append(decoder.name_prefix());
  std::map<std::string, at::Tensor> tensors = adapter.memory;
  for (const auto& [name, matrix] : matrices_of(adapter)) tensors[prefix + name] = matrix;
  const nn::SequenceShape& shape = decoder.shape().sequence;
  // Conv1D of transformers' GPT-2, whose weights are [inputs, outputs].
  const bool transposed = decoder.name_prefix() == "transformer.";
  const nlohmann::json config = config_json(adapter.config, transposed, shape.encoder_decoder());
  std::map<std::string, std::string> metadata = adapter.metadata;
  metadata["qfs.peft"] = config.dump();
  return {tensor_file_bytes(tensors, std::move(metadata), type), config.dump(2) + "\n"};
}

}  // namespace qfs::peft

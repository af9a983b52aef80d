#include "methods/models/peft/layer_adapter_files.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "harness/core/suggest.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/peft/tensor_files.h"
#include "methods/models/peft/trained_biases.h"

namespace qfs::peft {

namespace {

using checkpoints::TensorEntry;

constexpr const char* kLayout = "qfs.rotary_layout";
constexpr std::string_view kLayers = "llama.layers.";

/// Placeholders of the release.
bool ignored(std::string_view name) {
  return name.ends_with(".not_use.weight") || name.ends_with(".not_use.bias");
}

/// As the release's baseline names what its IDEAL calls ".loralinear".
std::string current_name(const std::string& name) {
  constexpr std::string_view kEnd = "_l1.weight";
  if (!name.starts_with(kLayers) || !name.ends_with(kEnd)) return name;
  return name.substr(0, name.size() - std::string_view(".weight").size()) + ".loralinear.weight";
}

/// The tensors of a file by their current names.
using Entries = std::map<std::string, const TensorEntry*>;

/// What the names and shapes of a file say.
class Deduction {
 public:
  Deduction(const Entries& entries, const nn::LayerWidths& widths, LayerAdapterConfig rest)
      : entries_(entries), widths_(widths), config_(std::move(rest)) {}

  std::optional<LayerAdapterConfig> config() {
    config_.targets.clear();
    config_.hyper.layers = 0;
    if (!find_kind()) return std::nullopt;
    find_size();
    find_hyper();
    find_layers();
    return config_;
  }

 private:
  bool any(std::string_view part) const {
    return std::ranges::any_of(
        entries_, [&](const auto& entry) { return entry.first.find(part) != std::string::npos; });
  }
  /// An extent of the first tensor whose name has this part; 0: there is none.
  int64_t extent(std::string_view part, size_t dimension) const {
    for (const auto& [name, entry] : entries_) {
      if (name.find(part) == std::string::npos || entry->shape.size() <= dimension) continue;
      return entry->shape[dimension];
    }
    return 0;
  }
  /// Layers that have a tensor with this part in its name.
  std::set<int64_t> layers_with(std::string_view part) const {
    std::set<int64_t> layers;
    for (const auto& [name, entry] : entries_) {
      if (!name.starts_with(kLayers) || name.find(part) == std::string::npos) continue;
      layers.insert(std::atoll(name.c_str() + kLayers.size()));
    }
    return layers;
  }

  bool find_kind() {
    if (any(".lora_w") || any("lora_hyper_net.")) {
      config_.kind = AdapterKind::lora;
    } else if (any(".p_adapter.") || any("padapter_hyper_net.")) {
      config_.kind = AdapterKind::parallel_adapter;
    } else if (any(".attention.prompt") || any("prompt_hyper_net.")) {
      config_.kind = AdapterKind::prompt;
    } else {
      return false;
    }
    return true;
  }

  void find_size() {
    switch (config_.kind) {
      case AdapterKind::lora:
        config_.size = extent("_l2.weight", 1);
        for (const ReleasedTarget& target : adapter_targets()) {
          if (any(std::string(target.released) + "_l2")) {
            config_.targets.emplace_back(target.name);
          }
        }
        return;
      case AdapterKind::parallel_adapter:
        config_.size = extent("adapter_down_manual_proj.bias", 0);
        if (config_.size == 0) config_.size = extent("decoder.bias_down.bias", 0);
        return;
      case AdapterKind::prompt:
        config_.size = extent("attention.prompt", 1);
        if (const int64_t all = extent("decoder.prompt_weight.bias", 0); all > 0) {
          config_.size = all / widths_.hidden;
        }
        return;
    }
  }

  void find_hyper() {
    HyperConfig& hyper = config_.hyper;
    if (!any("hyper_net.")) return;
    if (extent("hyper_net.norm.weight", 0) == 2 * widths_.hidden) hyper.pooling = Pooling::both;
    for (const auto& [name, entry] : entries_) {
      if (name.find(".decoder.") != std::string::npos && name.ends_with(".weight") &&
          entry->shape.size() == 2) {
        hyper.bottleneck = entry->shape[1];
      }
    }
    const int64_t rows = extent("encoder.linear0.bias", 0);
    if (rows == 0) {
      hyper.encoder = HyperEncoder::serial;
      for (const auto& [name, entry] : entries_) {
        hyper.layers += name.find("encoders.") != std::string::npos && name.ends_with(".bias");
      }
      return;
    }
    const auto without = [](std::set<int64_t> all, const std::set<int64_t>& some) {
      for (const int64_t one : some) all.erase(one);
      return static_cast<int64_t>(all.size());
    };
    switch (config_.kind) {
      case AdapterKind::lora:
        hyper.layers = without(layers_with("_l2.weight"), layers_with("_l1."));
        break;
      case AdapterKind::prompt:
        hyper.layers = without(layers_with(".prompt_gate"), learned_prompts());
        break;
      case AdapterKind::parallel_adapter: {
        const auto ordinary = layers_with(".p_adapter.");
        hyper.layers = widths_.layers - (ordinary.empty() ? 0 : *ordinary.rbegin() + 1);
        break;
      }
    }
    hyper.encoder =
        rows == hyper.bottleneck && hyper.layers != 1 ? HyperEncoder::common : HyperEncoder::own;
  }

  std::set<int64_t> learned_prompts() const {
    std::set<int64_t> layers;
    for (const auto& [name, entry] : entries_) {
      if (name.starts_with(kLayers) && name.ends_with(".attention.prompt")) {
        layers.insert(std::atoll(name.c_str() + kLayers.size()));
      }
    }
    return layers;
  }

  void find_layers() {
    const auto layers = layers_with(".");
    const bool behind = config_.hyper.layers > 0;
    config_.first_layer = layers.empty() ? widths_.layers - config_.hyper.layers : *layers.begin();
    config_.bare_layers =
        behind || layers.empty() ? 0 : std::max<int64_t>(widths_.layers - *layers.rbegin() - 1, 0);
  }

  const Entries& entries_;
  const nn::LayerWidths& widths_;
  LayerAdapterConfig config_;
};

/// Rows of adjacent pairs (2i, 2i + 1) to pairs (i, i + half), head by head.
at::Tensor to_halves(const at::Tensor& rows, int64_t head_dim) {
  return rows.view({rows.size(0) / head_dim, head_dim / 2, 2, -1})
      .transpose(1, 2)
      .reshape(rows.sizes());
}

bool is_rotated(const std::string& name) {
  return name.ends_with("lora_wq_l2.weight") || name.ends_with("lora_wk_l2.weight") ||
         name.ends_with("attention.wq.bias");
}

Status check_names(const Entries& entries, const NamedShapes& shapes, const std::string& path) {
  std::vector<std::string> names;
  for (const auto& [name, shape] : shapes) {
    names.push_back(name);
    const auto entry = entries.find(name);
    if (entry == entries.end()) return data_error("there is no tensor '" + name + "'", path);
    if (entry->second->shape == shape) continue;
    return data_error("'" + name + "' is " + checkpoints::shape_text(entry->second->shape) +
                          "; expected " + checkpoints::shape_text(shape),
                      path);
  }
  for (const auto& [name, entry] : entries) {
    if (shapes.contains(name)) continue;
    return data_error(
        "the tensor '" + name + "' is none of this adapter's" + suggestion(name, names), path);
  }
  return {};
}

}  // namespace

Result<LayerAdapter> read_layer_adapter(const std::string& path, const nn::LayerWidths& widths,
                                        const LayerAdapterConfig& rest) {
  const auto opened = checkpoints::open_safetensors(path);
  if (!opened.ok()) return opened.error();
  const checkpoints::Checkpoint& file = **opened;
  Entries entries;
  Entries biases;
  InfiniTensors memory;
  for (const TensorEntry& entry : file.tensors()) {
    if (ignored(entry.name)) continue;
    if (!is_memory_tensor(entry.name)) {
      (is_bias_tensor(entry.name) ? biases : entries)[current_name(entry.name)] = &entry;
      continue;
    }
    if (entry.elements == 0) return data_error("'" + entry.name + "' has no values", path);
    auto scalars = read_tensor(file, entry);
    if (!scalars.ok()) return scalars.error();
    memory[entry.name] = *std::move(scalars);
  }
  const auto config = Deduction(entries, widths, rest).config();
  if (!config) return data_error("no tensors of a low-rank, parallel or prompt adapter", path);
  if (Status possible = check_config(*config, widths); !possible.ok()) {
    return data_error("not an adapter of this backbone: " + possible.error().message, path);
  }
  if (Status named = check_names(entries, tensor_shapes(*config, widths), path); !named.ok()) {
    return named.error();
  }
  if (!biases.empty()) {
    if (Status named = check_names(biases, bias_shapes(widths), path); !named.ok()) {
      return named.error();
    }
  }
  LayerAdapter adapter{*config, widths, {}, file.metadata(), std::move(memory)};
  const auto layout = adapter.metadata.find(kLayout);
  const std::string rotary = layout == adapter.metadata.end() ? "meta" : layout->second;
  if (rotary != "meta" && rotary != "hf") {
    return data_error("'" + std::string(kLayout) + "' is '" + rotary + "'; known are hf and meta",
                      path);
  }
  for (const auto& [from, to] :
       {std::pair(&entries, &adapter.tensors), {&biases, &adapter.biases}}) {
    for (const auto& [name, entry] : *from) {
      auto tensor = read_tensor(file, *entry);
      if (!tensor.ok()) return tensor.error();
      const bool turned = rotary == "meta" && is_rotated(name);
      (*to)[name] = turned ? to_halves(*tensor, widths.head_dim) : *std::move(tensor);
    }
  }
  return adapter;
}

std::string layer_adapter_bytes(const LayerAdapter& adapter,
                                const std::map<std::string, std::string>& metadata,
                                at::ScalarType type) {
  NamedTensors all = adapter.tensors;
  all.insert(adapter.memory.begin(), adapter.memory.end());
  all.insert(adapter.biases.begin(), adapter.biases.end());
  std::map<std::string, std::string> said = metadata;
  said[kLayout] = "hf";
  return tensor_file_bytes(all, std::move(said), type);
}

}  // namespace qfs::peft

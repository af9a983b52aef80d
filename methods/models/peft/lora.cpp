#include "methods/models/peft/lora.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/core/rng.h"
#include "harness/core/suggest.h"

namespace qfs::peft {

namespace {

/// As peft matches target_modules: the whole name, or its end after a dot.
bool chosen_by(std::string_view name, std::string_view target) {
  if (name == target) return true;
  return name.size() > target.size() && name.ends_with(target) &&
         name[name.size() - target.size() - 1] == '.';
}

constexpr const char* kDownEnd = ".lora_A.weight";
constexpr const char* kUpEnd = ".lora_B.weight";

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

}  // namespace

std::map<std::string, at::Tensor> matrices_of(const LoraAdapter& adapter) {
  std::map<std::string, at::Tensor> matrices;
  for (const auto& [name, added] : adapter.layers) {
    matrices[name + kDownEnd] = added.down;
    matrices[name + kUpEnd] = added.up;
  }
  return matrices;
}

void replace_matrices(const std::map<std::string, at::Tensor>& matrices, LoraAdapter& adapter) {
  for (auto& [name, added] : adapter.layers) {
    added.down = matrices.at(name + kDownEnd);
    added.up = matrices.at(name + kUpEnd);
  }
}

double LoraConfig::scale() const {
  const auto size = static_cast<double>(rank);
  return alpha / (rank_stable ? std::sqrt(size) : size);
}

Result<std::vector<std::string>> chosen_layers(const nn::Decoder& decoder,
                                               std::span<const std::string> targets) {
  std::vector<std::string> layers;
  std::vector<std::string> ends;
  std::vector<bool> used(targets.size());
  for (const nn::AdapterTarget& matrix : nn::adapter_targets(decoder)) {
    for (const nn::FusedPart& layer : matrix.layers) {
      const std::string end = last_part(layer.name);
      if (std::ranges::count(ends, end) == 0) ends.push_back(end);
      bool chosen = false;
      for (size_t i = 0; i < targets.size(); ++i) {
        const bool by_this = chosen_by(std::string(decoder.name_prefix()) + layer.name, targets[i]);
        used[i] = used[i] || by_this;
        chosen = chosen || by_this;
      }
      if (chosen) layers.push_back(layer.name);
    }
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    if (used[i]) continue;
    return not_found("the backbone has no layer '" + targets[i] + "' to adapt" +
                     suggestion(targets[i], ends));
  }
  return layers;
}

Result<LoraAdapter> new_lora(const nn::Decoder& decoder, const LoraConfig& config, uint64_t seed) {
  const auto layers = chosen_layers(decoder, config.targets);
  if (!layers.ok()) return layers.error();
  LoraAdapter adapter{config, {}, {}};
  for (const nn::AdapterTarget& matrix : nn::adapter_targets(decoder)) {
    for (const nn::FusedPart& layer : matrix.layers) {
      if (std::ranges::count(*layers, layer.name) == 0) continue;
      const at::Tensor down = at::empty({config.rank, matrix.inputs}, at::kFloat);
      const double bound = 1 / std::sqrt(static_cast<double>(matrix.inputs));
      Rng rng = Rng::derived(seed, "lora:" + layer.name);
      for (float& value :
           std::span(down.mutable_data_ptr<float>(), static_cast<size_t>(down.numel()))) {
        value = static_cast<float>((2 * rng.uniform() - 1) * bound);
      }
      adapter.layers[layer.name] = {down, at::zeros({layer.outputs, config.rank}, at::kFloat),
                                    config.scale()};
    }
  }
  return adapter;
}

Status begin_with(const LoraAdapter& other, const std::string& source, LoraAdapter& adapter) {
  const auto differs = [&](const std::string& how) {
    return invalid_argument("cannot begin with '" + source + "': " + how);
  };
  const auto numbers = [&](const char* name, const nlohmann::json& its, const nlohmann::json& own) {
    return differs("its " + std::string(name) + " is " + its.dump() + ", the training's " +
                   own.dump());
  };
  if (other.layers.size() != adapter.layers.size()) {
    return numbers("number of layers", other.layers.size(), adapter.layers.size());
  }
  for (const auto& [name, added] : other.layers) {
    auto own = adapter.layers.find(name);
    // A model with a head has one part more in front.
    if (own == adapter.layers.end()) own = adapter.layers.find(name.substr(name.find('.') + 1));
    if (own == adapter.layers.end()) {
      return differs("it adapts '" + name + "', which the training does not");
    }
    const auto& [down, up, scale] = own->second;
    if (added.down.sizes() != down.sizes() || added.up.sizes() != up.sizes()) {
      return numbers("rank", added.down.size(0), down.size(0));
    }
    if (added.scale != scale) return numbers("alpha", other.config.alpha, adapter.config.alpha);
    own->second = added;
  }
  if (other.memory.empty()) return {};
  if (adapter.memory.empty()) return differs("it has a memory, which the training does not");
  for (auto& [name, tensor] : adapter.memory) {
    const auto its = other.memory.find(name);
    if (its == other.memory.end() || its->second.sizes() != tensor.sizes()) {
      return differs("its memory has no '" + name + "' like the training's");
    }
    tensor = its->second;
  }
  return {};
}

}  // namespace qfs::peft

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

// Projections of attention, and of the MLP the first without its gate, as checkpoints of the
// architectures name them.
constexpr const char* kDefaultTargets[] = {
    "q_proj", "k_proj", "v_proj", "o_proj", "out_proj", "up_proj", "fc1",
    "longformer_self_attn.query", "longformer_self_attn.key", "longformer_self_attn.value",
    "self_attn.output", "c_attn", "attn.c_proj", "c_fc",
    // of BERT and RoBERTa, and of DistilBERT
    "attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
    "intermediate.dense", "q_lin", "k_lin", "v_lin", "out_lin", "lin1"};

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

AdaptableLayers adaptable_layers(const nn::Decoder& decoder) {
  return {nn::adapter_targets(decoder), std::string(decoder.name_prefix())};
}

Result<std::vector<std::string>> chosen_layers(const AdaptableLayers& layers,
                                               std::span<const std::string> targets) {
  std::vector<std::string> chosen;
  std::vector<std::string> ends;
  std::vector<bool> used(targets.size());
  for (const nn::AdapterTarget& matrix : layers.matrices) {
    for (const nn::FusedPart& layer : matrix.layers) {
      const std::string end = last_part(layer.name);
      if (std::ranges::count(ends, end) == 0) ends.push_back(end);
      bool by_any = false;
      for (size_t i = 0; i < targets.size(); ++i) {
        const bool by_this = chosen_by(layers.prefix + layer.name, targets[i]);
        used[i] = used[i] || by_this;
        by_any = by_any || by_this;
      }
      if (by_any) chosen.push_back(layer.name);
    }
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    if (used[i]) continue;
    return not_found("the backbone has no layer '" + targets[i] + "' to adapt" +
                     suggestion(targets[i], ends));
  }
  return chosen;
}

std::vector<std::string> default_targets(const AdaptableLayers& layers) {
  std::vector<std::string> targets;
  for (const std::string target : kDefaultTargets) {
    if (chosen_layers(layers, {&target, 1}).ok()) targets.push_back(target);
  }
  return targets;
}

Result<LoraAdapter> new_lora(const AdaptableLayers& layers, const LoraConfig& config,
                             uint64_t seed) {
  const auto chosen = chosen_layers(layers, config.targets);
  if (!chosen.ok()) return chosen.error();
  LoraAdapter adapter{config, {}, {}};
  for (const nn::AdapterTarget& matrix : layers.matrices) {
    for (const nn::FusedPart& layer : matrix.layers) {
      if (std::ranges::count(*chosen, layer.name) == 0) continue;
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
    if (added.scale != scale) return numbers("alpha / rank", added.scale, scale);
    own->second = added;
  }
  return begin_memory(other.memory, source, adapter.memory);
}

}  // namespace qfs::peft

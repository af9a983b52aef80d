#include "methods/models/peft/layer_adapter.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>
#include <utility>

#include "harness/core/rng.h"
#include "harness/core/suggest.h"

namespace qfs::peft {

namespace {

constexpr double kGain = 1e-4;       // of Xavier's bound, for ordinary adapters
constexpr double kHyperGain = 1e-3;  // of the hypernetwork's linear layers

std::string layer_name(int64_t layer) { return "llama.layers." + std::to_string(layer) + "."; }
std::string down_name(int64_t layer, const ReleasedTarget& target) {
  return layer_name(layer) + std::string(target.released) + "_l1.loralinear.weight";
}
std::string up_name(int64_t layer, const ReleasedTarget& target) {
  return layer_name(layer) + std::string(target.released) + "_l2.weight";
}
std::string mlp_name(int64_t layer, const char* which) {
  return layer_name(layer) + "p_adapter.adapter_" + which;
}
std::string prompt_name(int64_t layer) { return layer_name(layer) + "attention.prompt"; }
std::string gate_name(int64_t layer) { return layer_name(layer) + "attention.prompt_gate"; }

std::vector<ReleasedTarget> targets_of(const LayerAdapterConfig& config) {
  const std::vector<ReleasedTarget> all = adapter_targets();
  if (config.targets.empty()) return {all.begin(), all.end() - 1};
  std::vector<ReleasedTarget> chosen;
  for (const ReleasedTarget& target : all) {
    if (std::ranges::count(config.targets, target.name) > 0) chosen.push_back(target);
  }
  return chosen;
}

int64_t product(std::span<const int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

void add_ordinary(const LayerAdapterConfig& config, const nn::LayerWidths& widths, int64_t layer,
                  bool generated, NamedShapes& shapes) {
  const int64_t size = config.size;
  switch (config.kind) {
    case AdapterKind::lora:
      for (const ReleasedTarget& target : targets_of(config)) {
        if (!generated) shapes[down_name(layer, target)] = {size, target.inputs(widths)};
        shapes[up_name(layer, target)] = {target.outputs(widths), size};
      }
      return;
    case AdapterKind::parallel_adapter:
      if (generated) return;
      shapes[mlp_name(layer, "down_manual_proj.weight")] = {size, widths.hidden};
      shapes[mlp_name(layer, "down_manual_proj.bias")] = {size};
      shapes[mlp_name(layer, "up_manual_proj.weight")] = {widths.hidden, size};
      shapes[mlp_name(layer, "up_manual_proj.bias")] = {widths.hidden};
      return;
    case AdapterKind::prompt:
      if (!generated) shapes[prompt_name(layer)] = {1, size, widths.hidden};
      shapes[gate_name(layer)] = {1, widths.heads, 1, 1};
      return;
  }
}

const char* hyper_name(AdapterKind kind) {
  switch (kind) {
    case AdapterKind::lora:
      return "lora_hyper_net.";
    case AdapterKind::parallel_adapter:
      return "padapter_hyper_net.";
    case AdapterKind::prompt:
      return "prompt_hyper_net.";
  }
  return "";
}

void add_hyper(const LayerAdapterConfig& config, const nn::LayerWidths& widths,
               NamedShapes& shapes) {
  const HyperConfig& hyper = config.hyper;
  const std::string prefix = hyper_name(config.kind);
  const int64_t read = widths.hidden * (hyper.pooling == Pooling::both ? 2 : 1);
  const auto linear = [&](const std::string& name, int64_t inputs, int64_t outputs) {
    shapes[prefix + name + ".weight"] = {outputs, inputs};
    shapes[prefix + name + ".bias"] = {outputs};
  };
  shapes[prefix + "norm.weight"] = {read};
  if (hyper.encoder == HyperEncoder::serial) {
    for (int64_t i = 0; i < hyper.layers; ++i) {
      linear("encoders." + std::to_string(i) + ".linear0", read, hyper.bottleneck);
    }
  } else {
    const int64_t encoders = hyper.encoder == HyperEncoder::own ? hyper.layers : 1;
    linear("encoder.linear0", read, encoders * hyper.bottleneck);
  }
  for (const GeneratedPart& part : generated_parts(config, widths)) {
    linear("decoder." + part.decoder, hyper.bottleneck, part.elements());
  }
}

at::Tensor uniform(const std::vector<int64_t>& shape, double bound, Rng rng) {
  const at::Tensor values = at::empty(shape, at::kFloat);
  for (float& value :
       std::span(values.mutable_data_ptr<float>(), static_cast<size_t>(values.numel()))) {
    value = static_cast<float>((2 * rng.uniform() - 1) * bound);
  }
  return values;
}

/// Standard normal (Box & Muller 1958).
at::Tensor normal(const std::vector<int64_t>& shape, Rng rng) {
  const at::Tensor values = at::empty(shape, at::kFloat);
  for (float& value :
       std::span(values.mutable_data_ptr<float>(), static_cast<size_t>(values.numel()))) {
    const double radius = std::sqrt(-2 * std::log(1 - rng.uniform()));
    value = static_cast<float>(radius * std::cos(2 * std::numbers::pi * rng.uniform()));
  }
  return values;
}

at::Tensor first_value(const LayerAdapterConfig& config, const nn::LayerWidths& widths,
                       const std::string& name, const std::vector<int64_t>& shape, uint64_t seed) {
  const Rng rng = Rng::derived(seed, "adapter:" + name);
  if (name.ends_with("norm.weight")) return at::ones(shape, at::kFloat);
  // B and gates are 0: with them training begins with the backbone as it is.
  for (const char* end : {".bias", "_l2.weight", "prompt_gate"}) {
    if (name.ends_with(end)) return at::zeros(shape, at::kFloat);
  }
  if (name.ends_with("attention.prompt")) return normal(shape, rng);
  const double sizes = static_cast<double>(shape[0]) * static_cast<double>(shape[1]);
  if (name.find("hyper_net.") == std::string::npos) {
    return uniform(shape, kGain * std::sqrt(6 / static_cast<double>(shape[0] + shape[1])), rng);
  }
  for (const GeneratedPart& part : generated_parts(config, widths)) {
    if (part.bias && name.ends_with("decoder." + part.decoder + ".weight")) {
      return uniform(shape, kHyperGain * std::sqrt(3 / static_cast<double>(widths.hidden)), rng);
    }
  }
  return uniform(shape, kHyperGain * std::sqrt(3 / sizes), rng);
}

void add_low_rank(const LayerAdapter& adapter, int64_t layer, const ReleasedTarget& target,
                  const at::Tensor& down, nn::AdapterSet& set) {
  set.linears["model.layers." + std::to_string(layer) + "." + std::string(target.layer)] = {
      down, adapter.tensors.at(up_name(layer, target)), 1};
}

void add_prompt(const LayerAdapter& adapter, int64_t layer, const at::Tensor& rows,
                nn::AdapterSet& set) {
  set.prompts[static_cast<size_t>(layer)] = {rows, adapter.tensors.at(gate_name(layer)).flatten(),
                                             adapter.config.gate_tanh};
}

}  // namespace

int64_t ReleasedTarget::inputs(const nn::LayerWidths& widths) const {
  if (name == "o_proj") return widths.heads * widths.head_dim;
  return name == "down_proj" ? widths.intermediate : widths.hidden;
}

int64_t ReleasedTarget::outputs(const nn::LayerWidths& widths) const {
  if (name == "q_proj") return widths.heads * widths.head_dim;
  if (name == "k_proj" || name == "v_proj") return widths.kv_heads * widths.head_dim;
  return name == "up_proj" ? widths.intermediate : widths.hidden;
}

std::vector<ReleasedTarget> adapter_targets() {
  return {{"q_proj", "self_attn.q_proj", "attention.lora_wq", "q_l1"},
          {"k_proj", "self_attn.k_proj", "attention.lora_wk", "k_l1"},
          {"v_proj", "self_attn.v_proj", "attention.lora_wv", "v_l1"},
          {"o_proj", "self_attn.o_proj", "attention.lora_wo", "o_l1"},
          {"up_proj", "mlp.up_proj", "feed_forward.lora_w3", "ffn_up_l1"},
          {"down_proj", "mlp.down_proj", "feed_forward.lora_w2", "ffn_down_l1"}};
}

Status check_config(const LayerAdapterConfig& config, const nn::LayerWidths& widths) {
  if (widths.layers == 0) {
    return unavailable(
        "adapters of whole layers are computed for backbones of the LLaMA family, which this one "
        "is not of");
  }
  if (config.size < 1 || config.hyper.bottleneck < 1) {
    return invalid_argument("an adapter needs a rank, bottleneck or length of at least 1");
  }
  std::vector<std::string> known;
  for (const ReleasedTarget& target : adapter_targets()) known.emplace_back(target.name);
  for (const std::string& target : config.targets) {
    if (std::ranges::count(known, target) > 0) continue;
    return not_found("no layer '" + target + "' to adapt" + suggestion(target, known));
  }
  const int64_t last = config.hyper.layers + config.bare_layers;
  const int64_t ordinary = widths.layers - config.first_layer - last;
  if (ordinary < 0 || (ordinary == 0 && config.hyper.layers == 0)) {
    return invalid_argument("layers from " + std::to_string(config.first_layer) + " without the " +
                            std::to_string(last) + " last ones; the backbone has " +
                            std::to_string(widths.layers));
  }
  return {};
}

int64_t GeneratedPart::elements() const { return product(shape); }

std::vector<GeneratedPart> generated_parts(const LayerAdapterConfig& config,
                                           const nn::LayerWidths& widths) {
  std::vector<GeneratedPart> parts;
  const int64_t hidden = widths.hidden;
  switch (config.kind) {
    case AdapterKind::lora:
      for (const ReleasedTarget& target : targets_of(config)) {
        parts.push_back({std::string(target.decoder), {target.inputs(widths), config.size}});
      }
      break;
    case AdapterKind::parallel_adapter:
      parts = {{"weight_down", {hidden, config.size}},
               {"bias_down", {config.size}, true},
               {"weight_up", {config.size, hidden}},
               {"bias_up", {hidden}, true}};
      break;
    case AdapterKind::prompt:
      parts = {{"prompt_weight", {config.size, hidden}}};
      break;
  }
  return parts;
}

NamedShapes tensor_shapes(const LayerAdapterConfig& config, const nn::LayerWidths& widths) {
  NamedShapes shapes;
  const int64_t end = widths.layers - config.bare_layers;
  for (int64_t layer = config.first_layer; layer < end; ++layer) {
    add_ordinary(config, widths, layer, layer >= widths.layers - config.hyper.layers, shapes);
  }
  if (config.hyper.layers > 0) add_hyper(config, widths, shapes);
  return shapes;
}

int64_t count_elements(const NamedShapes& shapes) {
  int64_t count = 0;
  for (const auto& [name, shape] : shapes) count += product(shape);
  return count;
}

std::string LayerAdapter::hyper_prefix() const { return hyper_name(config.kind); }

LayerAdapter new_layer_adapter(const LayerAdapterConfig& config, const nn::LayerWidths& widths,
                               uint64_t seed) {
  LayerAdapter adapter{config, widths, {}};
  for (const auto& [name, shape] : tensor_shapes(config, widths)) {
    adapter.tensors[name] = first_value(config, widths, name, shape, seed);
  }
  return adapter;
}

nn::AdapterSet ordinary_adapters(const LayerAdapter& adapter) {
  nn::AdapterSet set;
  const auto tensor = [&](const std::string& name) { return adapter.tensors.at(name); };
  const int64_t end = adapter.first_generated() - adapter.config.bare_layers;
  for (int64_t layer = adapter.config.first_layer; layer < end; ++layer) {
    switch (adapter.config.kind) {
      case AdapterKind::lora:
        for (const ReleasedTarget& target : targets_of(adapter.config)) {
          add_low_rank(adapter, layer, target, tensor(down_name(layer, target)), set);
        }
        break;
      case AdapterKind::parallel_adapter:
        set.mlps[static_cast<size_t>(layer)] = {tensor(mlp_name(layer, "down_manual_proj.weight")),
                                                tensor(mlp_name(layer, "down_manual_proj.bias")),
                                                tensor(mlp_name(layer, "up_manual_proj.weight")),
                                                tensor(mlp_name(layer, "up_manual_proj.bias"))};
        break;
      case AdapterKind::prompt:
        add_prompt(adapter, layer, tensor(prompt_name(layer)).squeeze(0), set);
        break;
    }
  }
  return set;
}

void add_generated(const LayerAdapter& adapter, int64_t layer, const NamedTensors& values,
                   nn::AdapterSet& set) {
  switch (adapter.config.kind) {
    case AdapterKind::lora:
      for (const ReleasedTarget& target : targets_of(adapter.config)) {
        add_low_rank(adapter, layer, target, values.at(std::string(target.decoder)).t(), set);
      }
      return;
    case AdapterKind::parallel_adapter:
      set.mlps[static_cast<size_t>(layer)] = {values.at("weight_down").t(), values.at("bias_down"),
                                              values.at("weight_up").t(), values.at("bias_up")};
      return;
    case AdapterKind::prompt:
      add_prompt(adapter, layer, values.at("prompt_weight"), set);
      return;
  }
}

std::vector<std::string> partners_of_generated(const LayerAdapter& adapter) {
  std::vector<std::string> names;
  for (int64_t layer = adapter.first_generated(); layer < adapter.widths.layers; ++layer) {
    if (adapter.config.kind == AdapterKind::prompt) names.push_back(gate_name(layer));
    if (adapter.config.kind != AdapterKind::lora) continue;
    for (const ReleasedTarget& target : targets_of(adapter.config)) {
      names.push_back(up_name(layer, target));
    }
  }
  return names;
}

}  // namespace qfs::peft

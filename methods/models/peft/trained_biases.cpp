#include "methods/models/peft/trained_biases.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace qfs::peft {

namespace {

constexpr std::string_view kLayers = "llama.layers.";
constexpr std::string_view kLastNorm = "llama.norm.weight";

/// A part of a layer in a checkpoint, and what the release calls what is trained of it.
struct Part {
  std::string_view name;
  std::string_view released;
  int64_t (*width)(const nn::LayerWidths&);
};

int64_t hidden(const nn::LayerWidths& widths) { return widths.hidden; }
int64_t inner(const nn::LayerWidths& widths) { return widths.intermediate; }
int64_t queries(const nn::LayerWidths& widths) { return widths.heads * widths.head_dim; }

constexpr std::array<Part, 7> kParts = {{{"self_attn.q_proj", "attention.wq.bias", &queries},
                                         {"self_attn.o_proj", "attention.wo.bias", &hidden},
                                         {"mlp.gate_proj", "feed_forward.w1.bias", &inner},
                                         {"mlp.down_proj", "feed_forward.w2.bias", &hidden},
                                         {"mlp.up_proj", "feed_forward.w3.bias", &inner},
                                         {"input_layernorm", "attention_norm.weight", &hidden},
                                         {"post_attention_layernorm", "ffn_norm.weight", &hidden}}};

/// What is trained of a part of the checkpoint, "model.layers.3.mlp.up_proj"; empty: nothing.
std::string released_name(std::string_view name) {
  constexpr std::string_view kModel = "model.";
  if (name.starts_with(kModel)) name.remove_prefix(kModel.size());
  if (name == "norm") return std::string(kLastNorm);
  for (const Part& part : kParts) {
    if (!name.starts_with("layers.") || !name.ends_with(part.name)) continue;
    return std::string("llama.")
        .append(name.substr(0, name.size() - part.name.size()))
        .append(part.released);
  }
  return "";
}

/// Gives each trained tensor the value that `value` returns for its name and what is there.
class TrainedBiases final : public nn::WeightVisitor {
 public:
  using Value = std::function<at::Tensor(const std::string& name, const at::Tensor& now)>;
  explicit TrainedBiases(Value value) : value_(std::move(value)) {}

  void tensor(const std::string& name, at::Tensor& tensor, std::vector<int64_t>) override {
    constexpr std::string_view kWeight = ".weight";
    if (!name.ends_with(kWeight)) return;
    const std::string released = released_name(name.substr(0, name.size() - kWeight.size()));
    if (!released.empty()) tensor = value_(released, tensor);
  }
  void optional(const std::string&, at::Tensor&, std::vector<int64_t>) override {}
  void tied(const std::string&, at::Tensor& tensor, const at::Tensor& table,
            std::vector<int64_t>) override {
    tensor = table;
  }
  void fused(const std::vector<nn::FusedPart>& parts, nn::Linear& linear, int64_t, bool) override {
    std::vector<at::Tensor> biases;
    int64_t first = 0;
    for (const nn::FusedPart& part : parts) {
      const at::Tensor now = linear.bias.defined()
                                 ? linear.bias.narrow(0, first, part.outputs)
                                 : at::zeros({part.outputs}, linear.weight.options());
      const std::string released = released_name(part.name);
      biases.push_back(released.empty() ? now : value_(released, now));
      first += part.outputs;
    }
    linear.bias = at::cat(biases);
  }
  void transposed(const std::string&, nn::Linear&, int64_t, int64_t) override {}

 private:
  Value value_;
};

}  // namespace

bool is_bias_tensor(std::string_view name) {
  if (name == kLastNorm) return true;
  if (!name.starts_with(kLayers)) return false;
  const size_t part = name.find('.', kLayers.size());
  if (part == std::string_view::npos) return false;
  for (const Part& one : kParts) {
    if (name.substr(part + 1) == one.released) return true;
  }
  return false;
}

NamedShapes bias_shapes(const nn::LayerWidths& widths) {
  NamedShapes shapes = {{std::string(kLastNorm), {widths.hidden}}};
  for (int64_t layer = 0; layer < widths.layers; ++layer) {
    for (const Part& part : kParts) {
      shapes[std::string(kLayers).append(std::to_string(layer)).append(".").append(part.released)] =
          {part.width(widths)};
    }
  }
  return shapes;
}

NamedTensors first_biases(const nn::Decoder& decoder) {
  NamedTensors biases;
  TrainedBiases reads([&](const std::string& name, const at::Tensor& now) {
    biases[name] = now.to(at::kCPU, at::kFloat, false, true);
    return now;
  });
  decoder.visit(reads);
  return biases;
}

std::shared_ptr<const nn::Decoder> with_biases(const nn::Decoder& decoder,
                                               const NamedTensors& biases) {
  TrainedBiases puts([&](const std::string& name, const at::Tensor& now) {
    return biases.at(name).to(now.device(), now.scalar_type());
  });
  return decoder.visit(puts);
}

}  // namespace qfs::peft

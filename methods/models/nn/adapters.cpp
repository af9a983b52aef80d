#include "methods/models/nn/adapters.h"

#include <utility>

#include "harness/core/suggest.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

namespace {

/// The linear layers that a list of weights shows.
class TargetFinder final : public WeightVisitor {
 public:
  void tensor(const std::string&, at::Tensor&, std::vector<int64_t>) override {}
  void optional(const std::string&, at::Tensor&, std::vector<int64_t>) override {}
  void tied(const std::string&, at::Tensor&, const at::Tensor&, std::vector<int64_t>) override {}
  void fused(const std::vector<FusedPart>& parts, Linear& linear, int64_t inputs, bool) override {
    add(parts, linear.weight, inputs);
  }
  void transposed(const std::string& name, Linear& linear, int64_t outputs,
                  int64_t inputs) override {
    add({{name, outputs}}, linear.weight, inputs);
  }

  std::vector<AdapterTarget> targets;

 private:
  void add(std::vector<FusedPart> layers, const at::Tensor& weight, int64_t inputs) {
    targets.push_back({weight.unsafeGetTensorImpl(), std::move(layers), inputs});
  }
};

std::string shape_text(const at::Tensor& tensor) {
  std::string text = "[";
  for (const int64_t size : tensor.sizes()) {
    text.append(text.size() > 1 ? ", " : "").append(std::to_string(size));
  }
  return text + "]";
}

Status check_shape(const std::string& name, const LowRank& added, int64_t outputs, int64_t inputs) {
  const bool fits = added.down.dim() == 2 && added.up.dim() == 2 && added.down.size(0) > 0 &&
                    added.up.size(1) == added.down.size(0) && added.down.size(1) == inputs &&
                    added.up.size(0) == outputs;
  if (fits) return {};
  return invalid_argument("the adapter of '" + name + "' is " + shape_text(added.down) + " and " +
                          shape_text(added.up) + "; the layer has " + std::to_string(inputs) +
                          " inputs and " + std::to_string(outputs) + " outputs");
}

}  // namespace

Result<std::shared_ptr<const Adapters>> Adapters::bind(const LowRankByName& by_name,
                                                       std::span<const AdapterTarget> targets,
                                                       at::Device device, at::ScalarType type) {
  using Bound = Result<std::shared_ptr<const Adapters>>;
  struct Place {
    const AdapterTarget* target;
    int64_t first;
    int64_t outputs;
    std::string adapted_as = {};
  };
  std::map<std::string, Place, std::less<>> places;
  std::vector<std::string> names;
  for (const AdapterTarget& target : targets) {
    int64_t first = 0;
    for (const FusedPart& layer : target.layers) {
      places[layer.name] = {&target, first, layer.outputs};
      names.push_back(layer.name);
      first += layer.outputs;
    }
  }
  return guarded("placing adapters", [&]() -> Bound {
    auto adapters = std::make_shared<Adapters>();
    for (const auto& [name, added] : by_name) {
      auto place = places.find(name);
      if (place == places.end()) {
        place = places.find(std::string_view(name).substr(name.find('.') + 1));
      }
      if (place == places.end()) {
        return not_found("the backbone has no layer '" + name + "'" + suggestion(name, names));
      }
      auto& [target, first, outputs, adapted_as] = place->second;
      if (!adapted_as.empty()) {
        return invalid_argument("'" + adapted_as + "' and '" + name + "' are one layer");
      }
      adapted_as = name;
      if (Status fits = check_shape(name, added, outputs, target->inputs); !fits.ok()) {
        return fits.error();
      }
      const LowRank placed = {added.down.to(device, type), added.up.to(device, type), added.scale};
      for (const at::Tensor& one : {placed.down, placed.up}) {
        if (one.requires_grad()) adapters->trained_.push_back(one);
      }
      adapters->by_weight_[target->weight].push_back({first, outputs, placed});
    }
    return std::shared_ptr<const Adapters>(std::move(adapters));
  });
}

std::span<const Adapters::Rows> Adapters::of(const void* weight) const {
  const auto found = by_weight_.find(weight);
  if (found == by_weight_.end()) return {};
  return found->second;
}

std::vector<AdapterTarget> adapter_targets(const Decoder& decoder) {
  TargetFinder finder;
  decoder.visit(finder);
  return std::move(finder.targets);
}

Result<std::shared_ptr<const Adapters>> bind_adapters(const LowRankByName& by_name,
                                                      const Decoder& decoder) {
  return Adapters::bind(by_name, adapter_targets(decoder), decoder.device(), decoder.type());
}

}  // namespace qfs::nn

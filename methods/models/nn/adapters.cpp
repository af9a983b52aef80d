#include "methods/models/nn/adapters.h"

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/matmul.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

#include "harness/core/suggest.h"
#include "methods/models/kernels/packed_products.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Products with frozen weights go through the packed kernels on a CPU in float32, else through
// LibTorch.

/// Fewer rows do not outweigh packing.
constexpr int64_t kFewestRows = 32;
/// Of products: a multiple of the widths of many models, so that outputs are seldom added to.
constexpr int64_t kPartInputs = 576;

bool by_own_kernels(const at::Tensor& x, const at::Tensor& weight) {
  return x.device().is_cpu() && x.scalar_type() == at::kFloat && x.size(0) >= kFewestRows &&
         x.stride(1) == 1 && weight.is_contiguous();
}

/// x [rows, inputs] by a weight that lies as `lie` says, to [rows, outputs].
at::Tensor packed_product(const at::Tensor& x, const Linear& linear, kernels::WeightRows lie) {
  const at::Tensor weight = unpacked(linear, x.size(1)).weight;
  const bool turned = lie == kernels::WeightRows::inputs;
  const int64_t outputs = weight.size(turned ? 1 : 0);
  const int64_t inputs = weight.size(turned ? 0 : 1);
  const at::Tensor packed = at::empty({kernels::panel_floats(outputs, inputs)});
  const auto* const from = weight.const_data_ptr<float>();
  auto* const panels = packed.mutable_data_ptr<float>();
  for_items(kernels::panels_of(outputs), [&](int64_t panel) {
    const int64_t output = panel * kernels::kPanelWidth;
    kernels::pack_panel(lie, from + output * (turned ? 1 : inputs), weight.size(1), outputs, inputs,
                        panel, kPartInputs, panels);
  });
  const at::Tensor y = at::empty({x.size(0), outputs});
  const kernels::PackedProduct product({.panels = panels,
                                        .x = x.const_data_ptr<float>(),
                                        .y = y.mutable_data_ptr<float>(),
                                        .rows = x.size(0),
                                        .inputs = inputs,
                                        .outputs = outputs,
                                        .x_stride = x.stride(0),
                                        .y_stride = outputs},
                                       kPartInputs, at::get_num_threads());
  for_items(product.tasks(), [&](int64_t task) { product.run(task); });
  return y;
}

/// x [rows, inputs] W^T + b: [rows, outputs].
at::Tensor product(const Linear& linear, const at::Tensor& x) {
  if (!by_own_kernels(x, linear.weight)) return apply(linear, x);
  at::Tensor y = packed_product(x, linear, kernels::WeightRows::outputs);
  if (linear.bias.defined()) y.add_(linear.bias);
  return y;
}

/// above [rows, outputs] W: [rows, inputs].
at::Tensor product_back(const Linear& linear, const at::Tensor& above) {
  if (!by_own_kernels(above, linear.weight)) return at::matmul(above, linear.weight);
  return packed_product(above, linear, kernels::WeightRows::inputs);
}

at::Tensor as_rows(const at::Tensor& x) { return x.reshape({-1, x.size(-1)}); }

std::vector<int64_t> with_last(at::IntArrayRef sizes, int64_t last) {
  std::vector<int64_t> other = sizes.vec();
  other.back() = last;
  return other;
}

/// x W^T + b, to which each place adds scale B (A x) in its outputs. Where there are places it
/// keeps A x and x, or what x was normalized from.
class LowRankLinear final : public torch::autograd::Function<LowRankLinear> {
 public:
  /// The outputs of a matrix that an adapter is added to.
  struct Place {
    int64_t first;
    int64_t count;
    double scale;
  };

  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, at::TensorList downs,
                            at::TensorList ups, const Linear& linear,
                            const std::vector<Place>& places) {
    const at::Tensor from = as_rows(x);
    const at::Tensor rows = product(linear, from);
    variable_list kept = {linear.weight};
    if (!places.empty()) {
      const at::Tensor down = at::cat(downs);
      const at::Tensor reduced = at::matmul(from, down.t());
      int64_t row = 0;
      for (size_t i = 0; i < places.size(); ++i) {
        const auto [first, count, scale] = places[i];
        const at::Tensor own = reduced.narrow(1, row, ups[i].size(1));
        rows.narrow(1, first, count).addmm_(own, ups[i].t(), 1, scale);
        row += ups[i].size(1);
      }
      const RmsNormed from_norm = rms_normed(x).value_or(RmsNormed{x, {}, {}});
      kept.insert(kept.end(), {from_norm.x, from_norm.weight, from_norm.inverse, down, reduced});
      kept.insert(kept.end(), ups.begin(), ups.end());
    }
    context->save_for_backward(std::move(kept));
    context->saved_data["places"] = listed(places);
    return rows.view(with_last(x.sizes(), rows.size(1)));
  }

  static variable_list backward(AutogradContext* context, variable_list upstream) {
    const variable_list kept = context->get_saved_variables();
    const std::vector<Place> places = places_of(context->saved_data["places"].toDoubleVector());
    const at::Tensor above = as_rows(upstream.front());
    at::Tensor below;
    if (context->needs_input_grad(0)) below = product_back({kept[0]}, above);
    variable_list gradients(1 + 2 * places.size() + 2);  // the last two: of what is no tensor
    if (!places.empty()) {
      const RmsNormed from_norm = {kept[1], kept[2], kept[3]};
      const at::Tensor x = from_norm.inverse.defined() ? from_norm.product() : from_norm.x;
      const at::Tensor& down = kept[4];
      const at::Tensor& reduced = kept[5];
      const auto ups = std::span(kept).subspan(6);
      const at::Tensor of_reduced = at::empty_like(reduced);
      int64_t row = 0;
      // In the order of factors that BLAS is quick at where one of them is thin.
      for (size_t i = 0; i < places.size(); ++i) {
        const auto [first, count, scale] = places[i];
        const at::Tensor& up = ups[i];
        const at::Tensor part = above.narrow(1, first, count);
        at::Tensor own = of_reduced.narrow(1, row, up.size(1));
        own.copy_(at::matmul(part, up.t().contiguous().t())).mul_(scale);
        gradients[1 + places.size() + i] =
            at::matmul(reduced.narrow(1, row, up.size(1)).t(), part).mul_(scale).t().contiguous();
        row += up.size(1);
      }
      if (below.defined()) below.addmm_(of_reduced, down);
      const at::Tensor of_down = at::matmul(of_reduced.t(), as_rows(x));
      row = 0;
      for (size_t i = 0; i < places.size(); ++i) {
        gradients[1 + i] = of_down.narrow(0, row, ups[i].size(1));
        row += ups[i].size(1);
      }
    }
    if (below.defined()) {
      gradients.front() = below.view(with_last(upstream.front().sizes(), below.size(1)));
    }
    return gradients;
  }

 private:
  static std::vector<double> listed(const std::vector<Place>& places) {
    std::vector<double> list;
    for (const auto& [first, count, scale] : places) {
      list.insert(list.end(), {static_cast<double>(first), static_cast<double>(count), scale});
    }
    return list;
  }
  static std::vector<Place> places_of(const std::vector<double>& list) {
    std::vector<Place> places;
    for (size_t i = 0; i < list.size(); i += 3) {
      places.push_back(
          {static_cast<int64_t>(list[i]), static_cast<int64_t>(list[i + 1]), list[i + 2]});
    }
    return places;
  }
};

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

std::string shape_text(at::IntArrayRef sizes) {
  std::string text = "[";
  for (const int64_t size : sizes) {
    text.append(text.size() > 1 ? ", " : "").append(std::to_string(size));
  }
  return text + "]";
}

Status check_shape(const std::string& name, const LowRank& added, int64_t outputs, int64_t inputs) {
  const bool fits = added.down.dim() == 2 && added.up.dim() == 2 && added.down.size(0) > 0 &&
                    added.up.size(1) == added.down.size(0) && added.down.size(1) == inputs &&
                    added.up.size(0) == outputs;
  if (fits) return {};
  return invalid_argument("the adapter of '" + name + "' is " + shape_text(added.down.sizes()) +
                          " and " + shape_text(added.up.sizes()) + "; the layer has " +
                          std::to_string(inputs) + " inputs and " + std::to_string(outputs) +
                          " outputs");
}

}  // namespace

Result<std::shared_ptr<const Adapters>> Adapters::bind(const AdapterSet& set,
                                                       const AdapterPlaces& places) {
  using Bound = Result<std::shared_ptr<const Adapters>>;
  return guarded("placing adapters", [&]() -> Bound {
    auto adapters = std::make_shared<Adapters>();
    Status bound = adapters->bind_linears(set.linears, places);
    if (bound.ok()) bound = adapters->bind_layers(set, places);
    if (!bound.ok()) return bound.error();
    return std::shared_ptr<const Adapters>(std::move(adapters));
  });
}

at::Tensor Adapters::placed(const at::Tensor& values, const AdapterPlaces& places) {
  // Contiguous, as kernels read them.
  at::Tensor there = values.to(places.device, places.type).contiguous();
  if (there.requires_grad()) trained_.push_back(there);
  return there;
}

std::shared_ptr<const Adapters> Adapters::cut_off(CutLeaves& leaves) const {
  const auto replace = [&](at::Tensor& tensor) {
    if (!tensor.requires_grad()) return;
    const auto [place, added] =
        leaves.places.try_emplace(tensor.unsafeGetTensorImpl(), leaves.inside.size());
    if (added) {
      leaves.outside.push_back(tensor);
      leaves.inside.push_back(tensor.detach());
      leaves.inside.back().set_requires_grad(true);
    }
    tensor = leaves.inside[place->second];
  };
  auto copy = std::make_shared<Adapters>(*this);
  for (at::Tensor& one : copy->trained_) replace(one);
  for (auto& [weight, places] : copy->by_weight_) {
    for (Rows& rows : places) {
      replace(rows.added.down);
      replace(rows.added.up);
    }
  }
  for (auto& [index, layer] : copy->by_layer_) {
    if (layer.mlp) {
      for (at::Tensor* one :
           {&layer.mlp->down, &layer.mlp->down_bias, &layer.mlp->up, &layer.mlp->up_bias}) {
        replace(*one);
      }
    }
    if (layer.prompt) {
      for (at::Tensor* one : {&layer.prompt->keys, &layer.prompt->values, &layer.prompt->gate}) {
        replace(*one);
      }
    }
  }
  return copy;
}

Status Adapters::bind_linears(const LowRankByName& by_name, const AdapterPlaces& places) {
  struct Place {
    const AdapterTarget* target;
    int64_t first;
    int64_t outputs;
    std::string adapted_as = {};
  };
  std::map<std::string, Place, std::less<>> layers;
  std::vector<std::string> names;
  for (const AdapterTarget& target : places.linears) {
    int64_t first = 0;
    for (const FusedPart& layer : target.layers) {
      layers[layer.name] = {&target, first, layer.outputs};
      names.push_back(layer.name);
      first += layer.outputs;
    }
  }
  for (const auto& [name, added] : by_name) {
    auto place = layers.find(name);
    if (place == layers.end()) {
      place = layers.find(std::string_view(name).substr(name.find('.') + 1));
    }
    if (place == layers.end()) {
      return not_found("the backbone has no layer '" + name + "'" + suggestion(name, names));
    }
    auto& [target, first, outputs, adapted_as] = place->second;
    if (!adapted_as.empty()) {
      return invalid_argument("'" + adapted_as + "' and '" + name + "' are one layer");
    }
    adapted_as = name;
    if (Status fits = check_shape(name, added, outputs, target->inputs); !fits.ok()) return fits;
    by_weight_[target->weight].push_back(
        {first, outputs, {placed(added.down, places), placed(added.up, places), added.scale}});
  }
  return {};
}

Status Adapters::bind_layers(const AdapterSet& set, const AdapterPlaces& places) {
  if (set.mlps.empty() && set.prompts.empty()) return {};
  const LayerWidths& widths = places.layers;
  if (widths.layers == 0) {
    return unavailable(
        "this backbone's architecture takes no parallel adapters and no prompts in its layers; "
        "those of the LLaMA family do");
  }
  const auto check = [&](size_t layer, const char* what, const at::Tensor& tensor,
                         std::vector<int64_t> shape) -> Status {
    if (static_cast<int64_t>(layer) >= widths.layers) {
      return invalid_argument("an adapter of layer " + std::to_string(layer) +
                              "; the backbone has " + std::to_string(widths.layers));
    }
    if (tensor.sizes() == at::IntArrayRef(shape)) return {};
    return invalid_argument("the " + std::string(what) + " of layer " + std::to_string(layer) +
                            " is " + shape_text(tensor.sizes()) + "; expected " +
                            shape_text(shape));
  };
  for (const auto& [layer, mlp] : set.mlps) {
    const int64_t bottleneck = mlp.down.size(0);
    for (const Status& fits :
         {check(layer, "adapter", mlp.down, {bottleneck, widths.hidden}),
          check(layer, "adapter's first bias", mlp.down_bias, {bottleneck}),
          check(layer, "adapter's way up", mlp.up, {widths.hidden, bottleneck}),
          check(layer, "adapter's last bias", mlp.up_bias, {widths.hidden})}) {
      if (!fits.ok()) return fits;
    }
    by_layer_[layer].mlp = {placed(mlp.down, places), placed(mlp.down_bias, places),
                            placed(mlp.up, places), placed(mlp.up_bias, places)};
  }
  for (const auto& [layer, prompt] : set.prompts) {
    const int64_t slots = prompt.rows.size(0);
    for (const Status& fits : {check(layer, "prompt", prompt.rows, {slots, widths.hidden}),
                               check(layer, "gate", prompt.gate, {widths.heads})}) {
      if (!fits.ok()) return fits;
    }
    const at::Tensor rows = prompt.rows.to(places.device, places.type).contiguous();
    const at::Tensor both = places.keys_values(layer, rows);
    const at::Tensor gate = prompt.tanh ? prompt.gate.tanh() : prompt.gate;
    by_layer_[layer].prompt = {placed(both.select(0, 0), places), placed(both.select(0, 1), places),
                               placed(gate, places)};
  }
  return {};
}

const LayerAdapters& Adapters::layer(size_t index) const {
  static const LayerAdapters kNone;
  const auto found = by_layer_.find(index);
  return found == by_layer_.end() ? kNone : found->second;
}

std::span<const Adapters::Rows> Adapters::of(const void* weight) const {
  const auto found = by_weight_.find(weight);
  if (found == by_weight_.end()) return {};
  return found->second;
}

at::Tensor adapted(const Linear& linear, const at::Tensor& x, const Adapters* adapters) {
  if (adapters == nullptr) return apply(linear, x);
  variable_list downs;
  variable_list ups;
  std::vector<LowRankLinear::Place> places;
  for (const Adapters::Rows& rows : adapters->of(linear)) {
    downs.push_back(rows.added.down);
    ups.push_back(rows.added.up);
    places.push_back({rows.first, rows.count, rows.added.scale});
  }
  // A bias that is trained, too, is added where gradients reach it.
  const bool trained = linear.bias.defined() && linear.bias.requires_grad();
  const at::Tensor y = LowRankLinear::apply(x, at::TensorList(downs), at::TensorList(ups),
                                            trained ? Linear{linear.weight} : linear, places);
  return trained ? at::add(y, linear.bias) : y;
}

std::vector<AdapterTarget> adapter_targets(const std::function<void(WeightVisitor&)>& visit) {
  TargetFinder finder;
  visit(finder);
  return std::move(finder.targets);
}

std::vector<AdapterTarget> adapter_targets(const Decoder& decoder) {
  return adapter_targets([&](WeightVisitor& visitor) { decoder.visit(visitor); });
}

Result<std::shared_ptr<const Adapters>> bind_adapters(const AdapterSet& set,
                                                      const Decoder& decoder) {
  return Adapters::bind(
      set, {.linears = adapter_targets(decoder),
            .layers = decoder.shape().sequence.widths,
            .keys_values = [&](size_t layer,
                               const at::Tensor& rows) { return decoder.keys_values(layer, rows); },
            .device = decoder.device(),
            .type = decoder.type()});
}

}  // namespace qfs::nn

#include "methods/models/nn/trained_weights.h"

#include <functional>
#include <string_view>
#include <utility>

namespace qfs::nn {

namespace {

/// Calls a function for every weight that may be trained, which may assign another tensor.
class EachWeight final : public WeightVisitor {
 public:
  using Each = std::function<void(const std::string& name, at::Tensor& weight)>;
  explicit EachWeight(Each each) : each_(std::move(each)) {}

  void tensor(const std::string& name, at::Tensor& tensor, std::vector<int64_t>) override {
    each_(name, tensor);
  }
  void optional(const std::string&, at::Tensor&, std::vector<int64_t>) override {}
  void tied(const std::string&, at::Tensor& tensor, const at::Tensor& table,
            std::vector<int64_t>) override {
    tensor = table;
  }
  void fused(const std::vector<FusedPart>& parts, Linear& linear, int64_t, bool) override {
    std::string name;
    for (const FusedPart& part : parts) name.append(name.empty() ? "" : "+").append(part.name);
    layer(name, linear);
  }
  void transposed(const std::string& name, Linear& linear, int64_t, int64_t) override {
    layer(name, linear);
  }

 private:
  void layer(const std::string& name, Linear& linear) {
    each_(name + ".weight", linear.weight);
    if (linear.bias.defined()) each_(name + ".bias", linear.bias);
  }

  Each each_;
};

/// What a checkpoint holds.
class CheckpointTensors final : public WeightVisitor {
 public:
  explicit CheckpointTensors(std::string_view prefix) : prefix_(prefix) {}

  void tensor(const std::string& name, at::Tensor& tensor, std::vector<int64_t> shape) override {
    tensors[named(name)] = tensor.view(shape);
  }
  void optional(const std::string& name, at::Tensor& tensor, std::vector<int64_t> shape) override {
    if (tensor.defined()) tensors[named(name)] = tensor.view(shape);
  }
  void tied(const std::string&, at::Tensor& tensor, const at::Tensor& table,
            std::vector<int64_t>) override {
    tensor = table;
  }
  void fused(const std::vector<FusedPart>& parts, Linear& linear, int64_t, bool) override {
    int64_t first = 0;
    for (const FusedPart& part : parts) {
      tensors[named(part.name + ".weight")] = linear.weight.narrow(0, first, part.outputs);
      if (linear.bias.defined()) {
        tensors[named(part.name + ".bias")] = linear.bias.narrow(0, first, part.outputs);
      }
      first += part.outputs;
    }
  }
  void transposed(const std::string& name, Linear& linear, int64_t, int64_t) override {
    tensors[named(name + ".weight")] = linear.weight.t();
    if (linear.bias.defined()) tensors[named(name + ".bias")] = linear.bias;
  }

  WeightsByName tensors;

 private:
  /// What stands beside the model, in transformers, has no prefix.
  std::string named(const std::string& name) const {
    const bool beside = name.starts_with("lm_head.") || name == "final_logits_bias";
    return beside ? name : prefix_ + name;
  }

  std::string prefix_;
};

}  // namespace

WeightsByName weights_of(const ShowWeights& show) {
  WeightsByName weights;
  EachWeight each([&](const std::string& name, at::Tensor& weight) { weights[name] = weight; });
  show(each);
  return weights;
}

WeightsByName weights_of(const Decoder& decoder) {
  return weights_of([&](WeightVisitor& visitor) { decoder.visit(visitor); });
}

void assign_weights(const ShowWeights& show, const WeightsByName& values) {
  EachWeight each([&](const std::string& name, at::Tensor& weight) {
    weight = values.at(name).to(weight.device(), weight.scalar_type());
  });
  show(each);
}

std::shared_ptr<const Decoder> with_weights(const Decoder& decoder, const WeightsByName& values) {
  std::shared_ptr<const Decoder> changed;
  assign_weights([&](WeightVisitor& visitor) { changed = decoder.visit(visitor); }, values);
  return changed;
}

WeightsByName checkpoint_of(const ShowWeights& show, std::string_view prefix) {
  CheckpointTensors checkpoint(prefix);
  show(checkpoint);
  return std::move(checkpoint.tensors);
}

WeightsByName checkpoint_of(const Decoder& decoder) {
  return checkpoint_of([&](WeightVisitor& visitor) { decoder.visit(visitor); },
                       decoder.name_prefix());
}

std::vector<at::Tensor> trained_among(const ShowWeights& show) {
  std::vector<at::Tensor> trained;
  EachWeight each([&](const std::string&, at::Tensor& weight) {
    if (weight.requires_grad()) trained.push_back(weight);
  });
  show(each);
  return trained;
}

}  // namespace qfs::nn

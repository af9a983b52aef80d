#include "methods/models/nn/weights.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "methods/models/nn/device_copier.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

namespace {

class WeightCopier final : public WeightVisitor {
 public:
  WeightCopier(at::Device device, at::ScalarType type) : copier_(device, type) {}

  void tensor(const std::string&, at::Tensor& tensor, std::vector<int64_t>) override {
    copy(tensor);
  }
  void optional(const std::string&, at::Tensor& tensor, std::vector<int64_t>) override {
    copy(tensor);
  }
  void tied(const std::string&, at::Tensor& tensor, const at::Tensor& table,
            std::vector<int64_t>) override {
    tensor = table;
  }
  void fused(const std::vector<FusedPart>&, Linear& linear, int64_t, bool) override {
    copy(linear);
  }
  void transposed(const std::string&, Linear& linear, int64_t, int64_t) override { copy(linear); }

 private:
  void copy(Linear& linear) {
    if (linear.packed) throw std::logic_error("packed weights are for reading alone");
    copy(linear.weight);
    copy(linear.bias);
  }
  void copy(at::Tensor& tensor) {
    if (!tensor.defined()) return;
    const auto [found, made] = copies_.try_emplace(tensor.unsafeGetTensorImpl());
    if (made) found->second = {tensor, copier_.tensor(tensor)};
    tensor = found->second.second;
  }

  DeviceCopier copier_;
  /// With the originals, whose addresses stay theirs while this lives.
  std::map<const void*, std::pair<at::Tensor, at::Tensor>> copies_;
};

int64_t elements(const at::Tensor& tensor) { return tensor.defined() ? tensor.numel() : 0; }

}  // namespace

Status copy_weights(at::Device device, at::ScalarType type,
                    const std::function<void(WeightVisitor&)>& visit) {
  return guarded("copying weights to " + device.str(), [&]() -> Status {
    WeightCopier copier(device, type);
    visit(copier);
    return {};
  });
}

void add_layer(std::initializer_list<const Linear*> linears,
               std::initializer_list<const LayerNorm*> norms, int64_t element_bytes,
               LayerStack& stack) {
  for (const Linear* linear : linears) {
    const WeightShape shape = {linear->weight.size(0), linear->weight.size(1), 1};
    const auto same = std::ranges::find_if(stack.matrices, [&](const WeightShape& other) {
      return other.outputs == shape.outputs && other.inputs == shape.inputs;
    });
    if (same == stack.matrices.end()) {
      stack.matrices.push_back(shape);
    } else {
      ++same->count;
    }
  }
  stack.bytes += element_bytes * (linear_elements(linears) + norm_elements(norms));
  ++stack.layers;
}

ModelWork decoder_only_work(LayerStack layers, const Linear& head, const LayerNorm& norm,
                            int64_t cache_elements, const ElementBytes& bytes) {
  ModelWork work;
  work.input = layers;
  work.output = std::move(layers);
  work.head = {head.weight.size(0), head.weight.size(1), 1};
  work.head_bytes = bytes.of_floats() * (linear_elements({&head}) + norm_elements({&norm}));
  work.cache_bytes = cache_elements * bytes.caches;
  return work;
}

int64_t linear_elements(std::initializer_list<const Linear*> layers) {
  int64_t sum = 0;
  for (const Linear* linear : layers) sum += elements(linear->weight) + elements(linear->bias);
  return sum;
}

int64_t norm_elements(std::initializer_list<const LayerNorm*> norms) {
  int64_t sum = 0;
  for (const LayerNorm* norm : norms) sum += elements(norm->weight) + elements(norm->bias);
  return sum;
}

}  // namespace qfs::nn

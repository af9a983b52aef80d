#include "methods/models/architectures/reading/tensor_reader.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>

#include <utility>
#include <vector>

#include "methods/models/checkpoints/tensor_check.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::architectures {

namespace {

/// The names and shapes that a file must have, and those that it may.
class ExpectedTensors final : public nn::WeightVisitor {
 public:
  void tensor(const std::string& name, at::Tensor&, std::vector<int64_t> shape) override {
    tensors_.push_back({name, std::move(shape)});
  }
  void optional(const std::string& name, at::Tensor&, std::vector<int64_t> shape) override {
    tensors_.push_back({name, std::move(shape), false});
  }
  void tied(const std::string& name, at::Tensor&, const at::Tensor&,
            std::vector<int64_t> shape) override {
    tensors_.push_back({name, std::move(shape), false});
  }
  void fused(const std::vector<nn::FusedPart>& parts, nn::Linear&, int64_t inputs,
             bool bias) override {
    for (const nn::FusedPart& part : parts) {
      tensors_.push_back({part.name + ".weight", {part.outputs, inputs}});
      if (bias) tensors_.push_back({part.name + ".bias", {part.outputs}});
    }
  }
  void transposed(const std::string& name, nn::Linear&, int64_t outputs, int64_t inputs) override {
    tensors_.push_back({name + ".weight", {inputs, outputs}});
    tensors_.push_back({name + ".bias", {outputs}});
  }

  const std::vector<checkpoints::ExpectedTensor>& tensors() const { return tensors_; }

 private:
  std::vector<checkpoints::ExpectedTensor> tensors_;
};

/// Keeps the first failure; tensors are undefined after it.
class TensorReader final : public nn::WeightVisitor {
 public:
  explicit TensorReader(const checkpoints::Checkpoint& file) : file_(file) {}

  void tensor(const std::string& name, at::Tensor& tensor, std::vector<int64_t>) override {
    tensor = read(name);
  }
  void optional(const std::string& name, at::Tensor& tensor, std::vector<int64_t>) override {
    if (file_.find(name) != nullptr) tensor = read(name);
  }
  void tied(const std::string& name, at::Tensor& tensor, const at::Tensor& table,
            std::vector<int64_t>) override {
    tensor = table;
    if (file_.find(name) == nullptr) return;
    const at::Tensor stored = read(name);
    if (!status_.ok() || at::equal(stored, table)) return;
    keep(data_error("'" + file_.path() + "' has a " + name +
                    " that differs from the embedding, whose copy it is read as"));
  }
  void fused(const std::vector<nn::FusedPart>& parts, nn::Linear& linear, int64_t,
             bool bias) override {
    std::vector<at::Tensor> weights;
    std::vector<at::Tensor> biases;
    for (const nn::FusedPart& part : parts) {
      weights.push_back(read(part.name + ".weight"));
      if (bias) biases.push_back(read(part.name + ".bias"));
    }
    if (!status_.ok()) return;
    const auto joined = [](const std::vector<at::Tensor>& all) {
      return all.size() == 1 ? all.front() : at::cat(all);
    };
    linear = {joined(weights), bias ? joined(biases) : at::Tensor()};
  }
  void transposed(const std::string& name, nn::Linear& linear, int64_t, int64_t) override {
    const at::Tensor weight = read(name + ".weight");
    linear = {weight.defined() ? weight.t().contiguous() : weight, read(name + ".bias")};
  }

  const Status& status() const { return status_; }

 private:
  at::Tensor read(const std::string& name) {
    if (!status_.ok()) return {};
    const auto entry = file_.require(name);
    if (!entry.ok()) return keep(entry.error()), at::Tensor();
    at::Tensor values = at::empty((*entry)->shape, at::kFloat);
    const Status done = file_.read(
        **entry, {values.mutable_data_ptr<float>(), static_cast<size_t>((*entry)->elements)});
    if (!done.ok()) return keep(done.error()), at::Tensor();
    return values;
  }

  void keep(Error error) {
    if (status_.ok()) status_ = std::move(error);
  }

  const checkpoints::Checkpoint& file_;
  Status status_;
};

}  // namespace

Status read_weights(const checkpoints::Checkpoint& file, const std::string& place,
                    std::span<const std::string> others,
                    const std::function<void(nn::WeightVisitor&)>& visit) {
  return nn::guarded("loading '" + place + "'", [&]() -> Status {
    ExpectedTensors expected;
    visit(expected);
    const auto differences = checkpoints::compare_tensors(file, expected.tensors(), others);
    if (Status same = to_status(differences, place); !same.ok()) return same;
    TensorReader reader(file);
    visit(reader);
    return reader.status();
  });
}

}  // namespace qfs::architectures

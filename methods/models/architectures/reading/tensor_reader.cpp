#include "methods/models/architectures/reading/tensor_reader.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>

#include <utility>

namespace qfs::architectures {

at::Tensor TensorReader::tensor(const std::string& name) {
  const auto entry = file_.require(name);
  if (!entry.ok()) return keep(entry.error()), at::Tensor();
  at::Tensor values = at::empty((*entry)->shape, at::kFloat);
  const Status read = file_.read(
      **entry, {values.mutable_data_ptr<float>(), static_cast<size_t>((*entry)->elements)});
  if (!read.ok()) return keep(read.error()), at::Tensor();
  return values;
}

nn::Linear TensorReader::fused(const std::vector<std::string>& names) {
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
  for (const std::string& name : names) {
    const nn::Linear part = linear(name);
    weights.push_back(part.weight);
    biases.push_back(part.bias);
  }
  if (!status_.ok()) return {};
  return {at::cat(weights), at::cat(biases)};
}

void TensorReader::expect_tied(const std::string& name, const at::Tensor& table) {
  if (file_.find(name) == nullptr) return;
  const at::Tensor stored = tensor(name);
  if (!status_.ok() || at::equal(stored, table)) return;
  keep(data_error("'" + file_.path() + "' has a " + name +
                  " that differs from the embedding, whose copy it is read as"));
}

void TensorReader::keep(Error error) {
  if (status_.ok()) status_ = std::move(error);
}

}  // namespace qfs::architectures

#include "methods/models/peft/tensor_files.h"

#include <ATen/ops/empty.h>

#include <utility>
#include <vector>

#include "methods/models/checkpoints/safetensors.h"

namespace qfs::peft {

namespace {

/// Holds what is stored of tensors.
class RoundedTensors {
 public:
  RoundedTensors(const std::map<std::string, at::Tensor>& tensors, at::ScalarType type)
      : type_(type == at::kBFloat16 ? checkpoints::TensorType::bf16
                                    : checkpoints::TensorType::f32) {
    for (const auto& [name, tensor] : tensors) {
      values_[name] = tensor.detach().to(at::kCPU, type).contiguous();
    }
  }

  std::vector<checkpoints::StoredTensor> stored() const {
    std::vector<checkpoints::StoredTensor> all;
    for (const auto& [name, values] : values_) {
      all.push_back({name,
                     type_,
                     values.sizes().vec(),
                     {static_cast<const char*>(values.const_data_ptr()), values.nbytes()}});
    }
    return all;
  }

 private:
  checkpoints::TensorType type_;
  std::map<std::string, at::Tensor> values_;
};

}  // namespace

Result<at::Tensor> read_tensor(const checkpoints::Checkpoint& file,
                               const checkpoints::TensorEntry& entry) {
  const at::Tensor tensor = at::empty(entry.shape, at::kFloat);
  const Status read =
      file.read(entry, {tensor.mutable_data_ptr<float>(), static_cast<size_t>(entry.elements)});
  if (!read.ok()) return read.error();
  return tensor;
}

Result<at::Tensor> read_tensor(const checkpoints::Checkpoint& file, const std::string& name,
                               const std::vector<int64_t>& shape) {
  const auto entry = file.require(name, shape);
  if (!entry.ok()) return entry.error();
  return read_tensor(file, **entry);
}

std::string tensor_file_bytes(const std::map<std::string, at::Tensor>& tensors,
                              std::map<std::string, std::string> metadata, at::ScalarType type) {
  metadata["format"] = "pt";
  const RoundedTensors rounded(tensors, type);
  return checkpoints::safetensors_bytes(rounded.stored(), metadata);
}

Status write_tensor_file(const std::string& path, const std::map<std::string, at::Tensor>& tensors,
                         std::map<std::string, std::string> metadata, at::ScalarType type) {
  metadata["format"] = "pt";
  const RoundedTensors rounded(tensors, type);
  return checkpoints::write_safetensors(path, rounded.stored(), metadata);
}

}  // namespace qfs::peft

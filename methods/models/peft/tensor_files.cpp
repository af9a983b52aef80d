#include "methods/models/peft/tensor_files.h"

#include <ATen/ops/empty.h>

#include <utility>
#include <vector>

#include "methods/models/checkpoints/safetensors.h"

namespace qfs::peft {

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
  const auto stored =
      type == at::kBFloat16 ? checkpoints::TensorType::bf16 : checkpoints::TensorType::f32;
  std::vector<checkpoints::StoredTensor> all;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor values = tensor.detach().to(at::kCPU, type).contiguous();
    all.push_back({name,
                   stored,
                   values.sizes().vec(),
                   {static_cast<const char*>(values.const_data_ptr()), values.nbytes()}});
  }
  metadata["format"] = "pt";
  return checkpoints::safetensors_bytes(std::move(all), metadata);
}

}  // namespace qfs::peft

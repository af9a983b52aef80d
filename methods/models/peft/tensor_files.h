// Files of trained tensors: reading one as float32, and the bytes of some by their names.
//
// Used by what reads and writes trained files (lora.h, layer_adapter_files.h, methods). Functions
// are thread-safe. LibTorch's exceptions pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "harness/api/result.h"
#include "methods/models/checkpoints/checkpoint.h"

namespace qfs::peft {

Result<at::Tensor> read_tensor(const checkpoints::Checkpoint& file,
                               const checkpoints::TensorEntry& entry);

/// `data` unless the tensor is there in this shape; names it.
Result<at::Tensor> read_tensor(const checkpoints::Checkpoint& file, const std::string& name,
                               const std::vector<int64_t>& shape);

/// A safetensors file with `metadata` and the format's, values rounded to `type` (float32 or
/// bfloat16).
std::string tensor_file_bytes(const std::map<std::string, at::Tensor>& tensors,
                              std::map<std::string, std::string> metadata, at::ScalarType type);

/// Writes the same as a file, without a copy of it in memory. Errors as write_file.
Status write_tensor_file(const std::string& path, const std::map<std::string, at::Tensor>& tensors,
                         std::map<std::string, std::string> metadata, at::ScalarType type);

}  // namespace qfs::peft

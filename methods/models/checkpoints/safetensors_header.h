// The header of a safetensors file: names, types, shapes and places of its tensors, checked.
//
// Called by the safetensors reader and its fuzz target. The JSON text is read by events and never
// becomes a tree; every product and sum is checked, and a rule that is broken is a `data` error
// that names the tensor (`where` names the file). Pure; thread-safe. Format and rules: README of
// huggingface/safetensors and its Rust reader 0.8.0 (tensors tile the data without gap or overlap).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/checkpoints/checkpoint.h"

namespace qfs::checkpoints {

constexpr uint64_t kMaxSafetensorsHeaderBytes = uint64_t{100} << 20;

struct SafetensorsTensor {
  TensorEntry entry;
  uint64_t begin = 0;  ///< in the data that follow the header
};

struct SafetensorsHeader {
  std::vector<SafetensorsTensor> tensors;       ///< in the order of the data
  std::map<std::string, std::string> metadata;  ///< `__metadata__`, texts only
};

/// `text` is the JSON (without its length), `data_bytes` what follows it in the file.
Result<SafetensorsHeader> parse_safetensors_header(std::string_view text, uint64_t data_bytes,
                                                   const std::string& source);

}  // namespace qfs::checkpoints

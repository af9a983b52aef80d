// Checkpoints in safetensors files: one file, shards under a model.safetensors.index.json, or all
// files of a folder; and the bytes of such a file.
//
// Called by ModelDirectory, by loaders and by what training writes. Files are mapped; headers are
// read and checked when a checkpoint is opened, data only when asked for. Errors name file and
// tensor: `not_found` (no such file), `data` (a rule of the format is broken, index and shards
// disagree, a shard's name is no plain file name). Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/checkpoints/checkpoint.h"

namespace qfs::checkpoints {

/// What trainings go on from, which is no part of a model.
inline constexpr std::string_view kTrainingCheckpoint = "checkpoint.safetensors";

/// Names of the files that make up the model of a folder, sorted; none where there is no folder.
std::vector<std::string> safetensors_in(const std::string& folder);

/// `path`: a .safetensors file, an index (a name that ends in .json) beside its shards, or a
/// folder, whose files are read as one: `data` for a tensor that two of them have with other bytes,
/// and for metadata of another value.
Result<std::shared_ptr<const Checkpoint>> open_safetensors(const std::string& path);

/// What an index says: the file name of each tensor's shard. Names are checked to be plain file
/// names that end in .safetensors.
Result<std::map<std::string, std::string>> parse_safetensors_index(std::string_view text,
                                                                   const std::string& source);

/// A tensor to be written, as stored.
struct StoredTensor {
  std::string name;
  TensorType type = TensorType::f32;  ///< one that safetensors has
  std::vector<int64_t> shape;
  std::string_view bytes;  ///< of somebody else
};

/// The bytes of a file: names sorted, the header padded to a multiple of 8. Equal contents give
/// equal bytes. Names are distinct; metadata are valid UTF-8.
std::string safetensors_bytes(std::vector<StoredTensor> tensors,
                              const std::map<std::string, std::string>& metadata);

/// Writes the same as a file, without a copy of it in memory. Errors as write_file.
Status write_safetensors(const std::string& path, std::vector<StoredTensor> tensors,
                         const std::map<std::string, std::string>& metadata);

}  // namespace qfs::checkpoints

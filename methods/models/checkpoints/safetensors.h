// Checkpoints in safetensors files: one file, or shards under a model.safetensors.index.json.
//
// Called by ModelDirectory and by loaders. Files are mapped; headers are read and checked when a
// checkpoint is opened, data only when asked for. Errors name file and tensor: `not_found` (no such
// file), `data` (a rule of the format is broken, index and shards disagree, a shard's name is no
// plain file name). Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "methods/models/checkpoints/checkpoint.h"

namespace qfs::checkpoints {

/// `path`: a .safetensors file, or an index (a name that ends in .json) beside its shards.
Result<std::shared_ptr<const Checkpoint>> open_safetensors(const std::string& path);

/// What an index says: the file name of each tensor's shard. Names are checked to be plain file
/// names that end in .safetensors.
Result<std::map<std::string, std::string>> parse_safetensors_index(std::string_view text,
                                                                   const std::string& source);

}  // namespace qfs::checkpoints

// Reads the weights that an architecture lists (nn/weights.h) out of a checkpoint, after the whole
// list was compared with what the file has.
//
// Used by loaders. Thread-safe. LibTorch's exceptions come out as Errors.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "harness/api/result.h"
#include "methods/models/checkpoints/checkpoint.h"
#include "methods/models/nn/weights.h"

namespace qfs::architectures {

/// Calls `visit` twice: for the names and shapes expected, then to fill the tensors, float32 on the
/// CPU. `others`: patterns of names that a file may have besides (tensor_check.h). `place` is the
/// model's path. `data` naming tensors that are missing, misshaped or unknown, or one that differs
/// from the table whose copy it is; `unavailable` (storage type), `out_of_memory`.
Status read_weights(const checkpoints::Checkpoint& file, const std::string& place,
                    std::span<const std::string> others,
                    const std::function<void(nn::WeightVisitor&)>& visit);

}  // namespace qfs::architectures

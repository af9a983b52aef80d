// Compares the tensors of a checkpoint with those an architecture has: missing, unknown and
// misshaped ones, all of them named at once.
//
// Called by loaders before they allocate anything, and by `qfs-bench model verify`. Pure;
// thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/checkpoints/checkpoint.h"

namespace qfs::checkpoints {

struct ExpectedTensor {
  std::string name;
  std::vector<int64_t> shape;
  bool required = true;  ///< tied duplicates and buffers may be absent
};

struct TensorDifferences {
  std::vector<std::string> missing;
  std::vector<std::string> unknown;
  std::vector<std::string> misshaped;  ///< "name: [2, 3], expected [3, 2]"

  bool empty() const { return missing.empty() && unknown.empty() && misshaped.empty(); }
};

/// `ignored`: prefixes or suffixes ("*.position_ids", "pooler.*") of tensors that may be there
/// without being part of the model.
TensorDifferences compare_tensors(const Checkpoint& checkpoint,
                                  std::span<const ExpectedTensor> expected,
                                  std::span<const std::string> ignored = {});

/// `data` naming up to five of each kind; success when there are none.
Status to_status(const TensorDifferences& differences, const std::string& path);

}  // namespace qfs::checkpoints

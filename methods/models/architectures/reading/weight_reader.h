// WeightReader: named tensors of a checkpoint as matrices and vectors of expected shapes, with the
// first failure kept.
//
// Used by loaders of weights. Not thread-safe. After a failure readers return empty values; the
// loader looks at status() before it uses any.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/checkpoints/checkpoint.h"
#include "methods/models/nn/matrix.h"

namespace qfs::architectures {

/// Some rows of a fused matrix: one tensor of the file.
struct MatrixPart {
  std::string name;
  int64_t rows = 0;
  /// For query and key projections of GGUF files, rows of one head: the file has them interleaved
  /// for pairwise rotation, (i, half); they are put back into (half, i). 0: as they are.
  int64_t head_dim = 0;
};

struct VectorPart {
  std::string name;
  int64_t length = 0;
};

class WeightReader {
 public:
  explicit WeightReader(const checkpoints::Checkpoint& file) : file_(file) {}

  /// The parts below one another. Parts of one packed type stay packed, others become float32.
  /// Memory is allocated after all parts were found in their shapes, so the file's size bounds it.
  nn::Matrix matrix(std::span<const MatrixPart> parts, int64_t columns);
  /// A float32 vector.
  std::vector<float> vector(const std::string& name, int64_t length);
  /// Vectors one after the other.
  std::vector<float> vectors(std::span<const VectorPart> parts);
  /// A tensor that may be there without being part of the model, such as a saved buffer.
  void allow(const std::string& name) { used_.insert(name); }

  /// A copy of another tensor, where it is there; `data` when its bytes differ.
  void expect_copy(const std::string& name, const std::string& of);

  const Status& status() const { return status_; }
  /// `unavailable` when the file has a tensor that nobody asked for: then the model computes
  /// something that the loader does not know.
  Status check_all_used() const;

 private:
  const checkpoints::TensorEntry* find(const std::string& name, const std::vector<int64_t>& shape);
  void fill(const MatrixPart& part, const checkpoints::TensorEntry& tensor, nn::Matrix& matrix,
            int64_t first_row);
  Status read(const checkpoints::TensorEntry& tensor, const nn::Matrix& matrix, int64_t first,
              int64_t count, std::byte* out) const;
  void keep(const Status& status);

  const checkpoints::Checkpoint& file_;
  Status status_;
  std::set<std::string> used_;
};

}  // namespace qfs::architectures

// Matrix: a weight matrix in the storage type of its checkpoint, expanded to float32 where it is
// used.
//
// Decoding is bound by the memory that weights take, and so is a small machine: a packed weight of
// 0.6 or 2 bytes an element gives the same float32 results as one of 4 bytes. Plain data; immutable
// once loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "methods/models/checkpoints/tensor_types.h"

namespace qfs::nn {

/// Whether a matrix of this storage type is kept as it is; others become float32 when they are
/// read.
constexpr bool stays_packed(checkpoints::TensorType type) {
  using enum checkpoints::TensorType;
  return type == q4_1 || type == q8_0 || type == bf16 || type == f16;
}

/// [rows, columns], row-major; float32 or a type that stays packed.
struct Matrix {
  checkpoints::TensorType type = checkpoints::TensorType::f32;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_bytes = 0;
  std::shared_ptr<std::byte[]> data;

  std::byte* row(int64_t index) const { return data.get() + index * row_bytes; }
};

}  // namespace qfs::nn

// DeviceCopier: weights on their way to a device, in pieces through one buffer of bounded size that
// the device can read directly (page-locked memory where it is a GPU).
//
// Used by copy_to_device of the architectures. Not thread-safe; LibTorch's exceptions pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace qfs::nn {

class DeviceCopier {
 public:
  /// Values are rounded to `type` once.
  DeviceCopier(at::Device device, at::ScalarType type);

  /// Writes `count` rows of a matrix, from `first` on, as float32.
  using ExpandRows = std::function<void(int64_t first, int64_t count, float* out)>;

  /// A matrix [rows, columns] that `expand` writes a piece at a time.
  at::Tensor matrix(int64_t rows, int64_t columns, const ExpandRows& expand);
  /// A copy of a tensor in this process's memory; undefined for an undefined one.
  at::Tensor tensor(const at::Tensor& source);

 private:
  at::Device device_;
  at::ScalarType type_;
  at::Tensor buffer_;  ///< float32, as long as the longest piece so far
};

}  // namespace qfs::nn

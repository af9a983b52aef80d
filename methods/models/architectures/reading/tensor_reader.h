// TensorReader: named tensors of a checkpoint as LibTorch tensors, with the first failure kept; and
// TensorList: the names and shapes that an architecture expects.
//
// Used by loaders of weights, which compare the list with the file before they read. Not
// thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/checkpoints/checkpoint.h"
#include "methods/models/checkpoints/tensor_check.h"
#include "methods/models/nn/dense.h"

namespace qfs::architectures {

class TensorList {
 public:
  void add(const std::string& name, std::vector<int64_t> shape) {
    tensors_.push_back({name, std::move(shape)});
  }
  /// One that may be absent.
  void add_optional(const std::string& name, std::vector<int64_t> shape) {
    tensors_.push_back({name, std::move(shape), false});
  }
  void add_linear(const std::string& name, int64_t outputs, int64_t inputs) {
    add(name + ".weight", {outputs, inputs});
    add(name + ".bias", {outputs});
  }
  void add_norm(const std::string& name, int64_t width) {
    add(name + ".weight", {width});
    add(name + ".bias", {width});
  }
  const std::vector<checkpoints::ExpectedTensor>& tensors() const { return tensors_; }

 private:
  std::vector<checkpoints::ExpectedTensor> tensors_;
};

class TensorReader {
 public:
  explicit TensorReader(const checkpoints::Checkpoint& file) : file_(file) {}

  /// float32 on the CPU, in the file's shape; undefined after a failure.
  at::Tensor tensor(const std::string& name);
  nn::Linear linear(const std::string& name) {
    return {tensor(name + ".weight"), tensor(name + ".bias")};
  }
  /// The rows of several layers below one another, to be computed as one.
  nn::Linear fused(const std::vector<std::string>& names);
  nn::LayerNorm norm(const std::string& name) {
    return {tensor(name + ".weight"), tensor(name + ".bias")};
  }
  /// Fails with `data` where the file has a table under this name that differs from the one whose
  /// copy it is.
  void expect_tied(const std::string& name, const at::Tensor& table);
  const Status& status() const { return status_; }

 private:
  void keep(Error error);

  const checkpoints::Checkpoint& file_;
  Status status_;
};

}  // namespace qfs::architectures

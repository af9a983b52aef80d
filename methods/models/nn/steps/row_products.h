// RowProducts: linear layers over the few rows of a decoding step.
//
// Used by decoders on a CPU. In float32 it is the kernel that reads each weight once whatever the
// number of rows, and gives a row the same bits in any batch; in other types LibTorch's product.
// One caller at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "methods/models/kernels/thread_pool.h"
#include "methods/models/nn/dense.h"

namespace qfs::nn {

class RowProducts {
 public:
  /// The pool outlives this.
  explicit RowProducts(kernels::ThreadPool& pool) : pool_(pool) {}

  /// x [rows, inputs] to [rows, outputs].
  at::Tensor operator()(const Linear& linear, const at::Tensor& x);

 private:
  kernels::ThreadPool& pool_;
};

/// The first logits.size() elements of a head's product, from wherever it was computed.
void copy_logits(const at::Tensor& product, std::span<float> logits);

}  // namespace qfs::nn

// RowAttention: attention of the few rows of a decoding step, each over keys and values of its own.
//
// Used by decoders on a CPU. In float32 it is StepAttention, which gives a row the same bits in any
// batch; in other types LibTorch's, where rows beside one another that share their keys ask
// together. One caller at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "methods/models/kernels/thread_pool.h"
#include "methods/models/nn/steps/step_attention.h"

namespace qfs::nn {

/// What a row attends to: [kv_heads, positions, dim] each; a head's positions are contiguous.
struct KeyValues {
  at::Tensor keys;
  at::Tensor values;
};

class RowAttention {
 public:
  /// The pool outlives this.
  RowAttention(kernels::ThreadPool& pool, int64_t heads, int64_t kv_heads, int64_t dim);

  /// queries [rows, heads, dim], contiguous but for the step between rows, to [rows, heads * dim].
  at::Tensor operator()(const at::Tensor& queries, std::span<const KeyValues> rows);

 private:
  at::Tensor step(const at::Tensor& queries, std::span<const KeyValues> rows);

  kernels::ThreadPool& pool_;
  int64_t heads_;
  int64_t dim_;
  StepAttention attention_;
};

}  // namespace qfs::nn

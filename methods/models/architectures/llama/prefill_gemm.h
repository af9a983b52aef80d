// PrefillGemm: the matrix products of reading a prompt, with weights in the storage type of
// their checkpoint.
//
// Used by Llama::prefill; keeps scratch memory for one prompt. A product is computed in float32 by
// the kernels of dense_kernels.h, which give a row the same bits whatever rows are beside it, or in
// bfloat16 by LibTorch's BLAS where that was asked for and the processor has such instructions:
// then inputs and results are rounded to it, and sums are float32. Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include "methods/models/architectures/llama/llama_config.h"
#include "methods/models/kernels/thread_pool.h"
#include "methods/models/nn/matrix.h"

namespace qfs::architectures {

/// A weight as it is multiplied: packed in panels, a part of the inputs after the other, or in
/// bfloat16.
struct PrefillWeight {
  int64_t outputs = 0;
  int64_t inputs = 0;
  const float* panels = nullptr;
  at::Tensor bfloat16;  ///< [inputs, outputs], a view of the matrix
};

class PrefillGemm {
 public:
  /// Weights that are needed at the same time have places of their own.
  enum class Place { first, second };

  /// `bfloat16`: matrices of that type are multiplied in it.
  PrefillGemm(kernels::ThreadPool& pool, const LlamaConfig& config, bool bfloat16);

  /// Valid until the next weight in its place.
  PrefillWeight weight(const nn::Matrix& matrix, Place place = Place::first);

  /// out = x weight; x [rows, inputs] and out [rows, outputs] float32, rows contiguous.
  void multiply(const at::Tensor& x, const PrefillWeight& weight, const at::Tensor& out);
  /// sums = sums + x weight.
  void add(const at::Tensor& x, const PrefillWeight& weight, const at::Tensor& sums);

 private:
  void multiply_panels(const at::Tensor& x, const PrefillWeight& weight, const at::Tensor& out,
                       bool add);

  kernels::ThreadPool& pool_;
  bool bfloat16_;
  at::Tensor first_;
  at::Tensor second_;
};

}  // namespace qfs::architectures

// PromptProducts: the matrix products of reading a prompt, by LibTorch's BLAS, with weights in the
// storage type of their checkpoint.
//
// Used by Llama::prefill; keeps scratch memory for one prompt. A product is computed in float32, or
// in bfloat16 where that was asked for and the processor has such instructions: then inputs and
// results are rounded to it, and sums are float32. Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include "methods/backbones/llama/llama_config.h"
#include "methods/backbones/matrix.h"
#include "methods/kernels/thread_pool.h"

namespace qfs::backbones {

class PromptProducts {
 public:
  /// Weights that are needed at the same time have places of their own.
  enum class Place { first, second };

  /// `bfloat16`: matrices of that type are multiplied in it.
  PromptProducts(kernels::ThreadPool& pool, const LlamaConfig& config, bool bfloat16);

  /// [columns, rows]: a view of the matrix, or of its place until the next weight there.
  at::Tensor weight(const Matrix& matrix, Place place = Place::first);

  /// out = x weight; x and out float32.
  static void multiply(const at::Tensor& x, const at::Tensor& weight, at::Tensor out);
  /// sums = sums + x weight.
  static void add(const at::Tensor& x, const at::Tensor& weight, at::Tensor sums);

 private:
  kernels::ThreadPool& pool_;
  bool bfloat16_;
  at::Tensor first_;
  at::Tensor second_;
};

}  // namespace qfs::backbones

// StepModel: what sequence models made of LibTorch's layers have in common on a CPU: the key-value
// cache of their rows, and steps of decoding in which a row has the same bits in any batch
// (float32).
//
// Base of models of the architectures; contracts of SequenceModel. The fast forward pass of the
// LLaMA family (llama/) and models on a device (device/device_model.h) have caches of their own.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "methods/models/kernels/thread_pool.h"
#include "methods/models/nn/dense.h"
#include "methods/models/nn/sequence_model.h"
#include "methods/models/nn/steps/key_value_cache.h"
#include "methods/models/nn/steps/row_attention.h"
#include "methods/models/nn/steps/row_products.h"

namespace qfs::nn {

class StepModel : public SequenceModel {
 public:
  const SequenceShape& shape() const final { return shape_; }
  Status begin(int64_t rows, int64_t capacity) override;
  Status decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                std::span<float> logits) final;
  Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) override;

 protected:
  /// `weight`: one of the weights, whose element type the cache has. Uses as many threads as
  /// LibTorch is set to when it is made.
  StepModel(SequenceShape shape, const CacheShape& cache, const at::Tensor& weight);

  /// Logits [rows, vocabulary] of a step: tokens int32 [rows] at positions int64 [rows].
  virtual at::Tensor compute(std::span<const int64_t> rows, const at::Tensor& tokens,
                             const at::Tensor& positions) = 0;

  /// One step for checked rows and tokens, which then hold a position more. Throws.
  void run(std::span<const int64_t> rows, std::span<const int32_t> tokens, std::span<float> logits);
  static void copy_logits(const at::Tensor& scores, std::span<float> logits);

  /// x [rows, inputs] to [rows, outputs].
  at::Tensor multiply(const Linear& linear, const at::Tensor& x) { return products_(linear, x); }
  /// Each row over all that it holds, with the new key and value of qkv [rows, 3 heads * dim],
  /// which go into the cache: [rows, heads * dim].
  at::Tensor attend_past(const at::Tensor& qkv, size_t layer, std::span<const int64_t> rows);
  /// queries [rows, heads * dim], each row over keys and values of its own.
  at::Tensor attend(const at::Tensor& queries, std::span<const KeyValues> held);
  /// What a row of the cache holds of a layer, up to `positions`.
  KeyValues held(size_t layer, int64_t row, int64_t positions) const;

  KeyValueCache cache_;

 private:
  at::Tensor in_heads(const at::Tensor& states) const {
    return states.view({states.size(0), -1, cache_shape_.heads, cache_shape_.dim});
  }

  SequenceShape shape_;
  CacheShape cache_shape_;
  at::TensorOptions options_;  ///< of the weights
  kernels::ThreadPool pool_;
  RowProducts products_;
  RowAttention attention_;
};

}  // namespace qfs::nn

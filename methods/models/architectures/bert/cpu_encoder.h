// CpuEncoder: many texts through a post-norm encoder on a CPU, one vector a token.
//
// Used by TextEmbedder; TransformerEncoder computes the same with LibTorch, for whole batches and
// other devices. Weights are packed once. Texts are split over threads in groups whose activations
// stay in a core's cache; no text is padded, and a text's bits depend neither on its group nor on
// the number of threads. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/architectures/bert/encoder_weights.h"
#include "methods/models/kernels/dense_kernels.h"
#include "methods/models/kernels/thread_pool.h"

namespace qfs::architectures {

class CpuEncoder {
 public:
  /// The first `layers` layers, at most those there are.
  CpuEncoder(std::shared_ptr<const EncoderWeights> weights, int64_t layers, int threads);

  const EncoderConfig& config() const { return weights_->config; }
  kernels::ThreadPool& pool() { return pool_; }

  /// outs[i]: [texts[i]->size(), hidden]. `invalid_argument`: an empty text, one over max_tokens(),
  /// an unknown id; `out_of_memory`.
  Status encode(std::span<const std::vector<int32_t>* const> texts, std::span<float* const> outs);

 private:
  struct PackedLinear {
    std::vector<float> panels;
    const float* bias = nullptr;
    int64_t inputs = 0;
    int64_t outputs = 0;
  };
  struct PackedLayer {
    PackedLinear qkv;
    PackedLinear attention_output;
    PackedLinear up;
    PackedLinear down;
  };
  /// Buffers of one group.
  struct Scratch {
    std::vector<float> qkv;
    std::vector<float> attended;
    std::vector<float> inner;
    std::vector<float> states;
    std::vector<float> keys;
    std::vector<float> values;
    std::vector<float> scores;
  };
  /// Consecutive texts.
  struct Group {
    size_t begin = 0;
    size_t end = 0;
    int64_t rows = 0;
    int64_t longest = 0;
  };

  static PackedLinear packed(const nn::Linear& linear);
  Status check(const std::vector<int32_t>& text) const;
  std::vector<Group> groups(std::span<const std::vector<int32_t>* const> texts) const;
  void reserve(std::span<const Group> groups);
  void encode(const Group& group, std::span<const std::vector<int32_t>* const> texts,
              std::span<float* const> outs);
  void embed(const std::vector<int32_t>& ids, float* rows) const;
  void attend(const std::vector<int32_t>& ids, int64_t first_row, Scratch& scratch) const;
  void multiply(const PackedLinear& linear, const float* x, int64_t rows, float* y) const;
  void normalize(const nn::LayerNorm& norm, float* rows, int64_t count) const;

  std::shared_ptr<const EncoderWeights> weights_;
  std::vector<PackedLayer> layers_;
  const kernels::DenseKernels& kernels_;
  kernels::ThreadPool pool_;
  std::mutex mutex_;  ///< of free_
  std::vector<std::unique_ptr<Scratch>> free_;
};

}  // namespace qfs::architectures

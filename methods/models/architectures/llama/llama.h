// Llama: the forward pass of a LLaMA-type model with a static key-value cache, float32 on a CPU.
//
// Called by generation. A Llama owns scratch memory and serves one caller at a time; the weights
// are shared. A row of a batch is computed alone in prefill and with an order of sums that does not
// depend on the batch in decoding, so its results are the same bits in any batch. LibTorch's
// exceptions come out as Errors. Architecture: Touvron et al. 2023 (RMSNorm, RoPE, SwiGLU), grouped
// queries after Ainslie et al. 2023.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/architectures/llama/llama_weights.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/nn/steps/key_value_cache.h"

namespace qfs::architectures {

struct PromptBuffers;  // of llama_prefill.cpp

class Llama {
 public:
  /// Uses as many threads as LibTorch is set to when it is made. `bfloat16_products`: prompts are
  /// read in bfloat16 (PrefillGemm).
  explicit Llama(std::shared_ptr<const LlamaWeights> weights, bool bfloat16_products = false);
  Llama(Llama&&) noexcept;
  ~Llama();

  const LlamaConfig& config() const { return weights_->config; }

  /// Empty rows in a cache. `invalid_argument` when capacity exceeds the model's context.
  Status make_room(nn::KeyValueCache& cache, int64_t rows, int64_t capacity) const;

  /// Reads a prompt, or the rest of one whose beginning the row of the cache holds; `adapters` of
  /// the row, or null; `embedded`: rows in the place of tokens; `logits` [vocabulary] receives
  /// those that follow the last token. `invalid_argument`: no tokens, too many, or an unknown id.
  Status prefill(nn::KeyValueCache& cache, int64_t row, std::span<const int32_t> tokens,
                 std::span<float> logits, const nn::Adapters* adapters = nullptr,
                 std::span<const nn::EmbeddedRows> embedded = {});

  /// One step for `rows` (distinct, not empty) with one token each; `logits` [rows, vocabulary];
  /// `adapters`: of every row of the cache, or null; empty: none. Errors as in prefill.
  Status decode(nn::KeyValueCache& cache, std::span<const int64_t> rows,
                std::span<const int32_t> tokens, std::span<float> logits,
                std::span<const std::shared_ptr<const nn::Adapters>> adapters = {});

  /// SequenceModel::last_states.
  Result<at::Tensor> last_states() const;

  /// Adapters for rows of this model; errors as nn::Adapters::bind.
  Result<std::shared_ptr<const nn::Adapters>> bind(const nn::AdapterSet& set) const;

  /// SequenceModel::stream_before.
  Result<at::Tensor> stream_before(int64_t layer, const nn::SequenceInput& input);

 private:
  struct Scratch;
  void reserve_step(int64_t rows, int64_t capacity);
  void store_step(nn::KeyValueCache& cache, int64_t layer, std::span<const int64_t> rows);
  void attend_step(const nn::KeyValueCache& cache, int64_t layer, std::span<const int64_t> rows);
  void finish_step(int64_t layer, int64_t rows);
  /// The stream of a prompt through layers 0 to `until`, whose keys and values go into the cache;
  /// of the last layer of all only the last position's, which finish_prefill leaves in the scratch.
  void read_prompt(nn::KeyValueCache& cache, int64_t row, int64_t until,
                   const nn::Adapters* adapters, PromptBuffers& buffers);
  /// What enters the first layer, into buffers.
  void embed_prompt(std::span<const int32_t> tokens, std::span<const nn::EmbeddedRows> embedded,
                    PromptBuffers& buffers) const;
  void attend_rest(const nn::KeyValueCache& cache, int64_t layer, int64_t row,
                   const PromptBuffers& buffers, float* out);
  void finish_prefill(nn::KeyValueCache& cache, int64_t row, const PromptBuffers& buffers);
  void multiply(const nn::Matrix& weight, const float* x, int64_t rows, bool accumulate, float* y);
  void embed(std::span<const int32_t> tokens, float* out) const;
  void head(const float* hidden, int64_t rows, float* logits);

  std::shared_ptr<const LlamaWeights> weights_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace qfs::architectures

#include "methods/backbones/llama/cpu_llama.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "methods/backbones/llama/llama.h"
#include "methods/backbones/llama/llama_network.h"
#include "methods/backbones/runtime/input_checks.h"
#include "methods/backbones/steps/cache_rows.h"

namespace qfs::backbones {

namespace {

class CpuLlama final : public SequenceModel {
 public:
  CpuLlama(std::shared_ptr<const LlamaWeights> weights, bool bfloat16_products)
      : shape_(shape_of(weights->config)), model_(std::move(weights), bfloat16_products) {}

  const SequenceShape& shape() const override { return shape_; }

  Status begin(int64_t rows, int64_t capacity) override {
    if (!cache_ || static_cast<int64_t>(cache_->lengths.size()) < rows ||
        cache_->capacity < capacity) {
      cache_.reset();
      Result<KvCache> cache = model_.make_cache(rows, capacity);
      if (!cache.ok()) return cache.error();
      cache_ = *std::move(cache);
    }
    std::ranges::fill(cache_->lengths, 0);
    return {};
  }

  Status prefill(int64_t row, const SequenceInput& input, std::span<float> logits) override {
    if (!cache_) return internal_error("prefill before begin");
    const Status can =
        check_prompt(row, input.ids, shape_.vocabulary, cache_->lengths, cache_->capacity);
    if (!can.ok()) return can;
    int64_t& length = cache_->lengths[static_cast<size_t>(row)];
    if (input.shared) {
      const Status copied = copy_shared(*input.shared, static_cast<int64_t>(input.ids.size()), row,
                                        cache_->keys, cache_->values, cache_->lengths);
      if (!copied.ok()) return copied;
    }
    const std::span<const int32_t> ids = input.ids;
    const Status read =
        model_.prefill(*cache_, row, ids.subspan(static_cast<size_t>(length)), logits);
    if (!read.ok()) length = 0;
    return read;
  }

  Status decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                std::span<float> logits) override {
    if (!cache_) return internal_error("decode before begin");
    return model_.decode(*cache_, rows, tokens, logits);
  }

  Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) override {
    if (!cache_) return internal_error("reassign before begin");
    return reassign_rows(rows, sources, cache_->keys, cache_->values, cache_->lengths);
  }

 private:
  SequenceShape shape_;
  Llama model_;
  std::optional<KvCache> cache_;
};

}  // namespace

std::unique_ptr<SequenceModel> make_cpu_model(std::shared_ptr<const LlamaWeights> weights,
                                              bool bfloat16_products) {
  return std::make_unique<CpuLlama>(std::move(weights), bfloat16_products);
}

}  // namespace qfs::backbones

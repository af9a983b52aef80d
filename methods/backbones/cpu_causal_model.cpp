#include "methods/backbones/cpu_causal_model.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "methods/backbones/llama.h"

namespace qfs::backbones {

namespace {

class CpuCausalModel final : public CausalModel {
 public:
  explicit CpuCausalModel(std::shared_ptr<const LlamaWeights> weights)
      : model_(std::move(weights)) {}

  const LlamaConfig& config() const override { return model_.config(); }

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

  Status prefill(int64_t row, std::span<const int32_t> tokens, std::span<float> logits) override {
    if (!cache_) return internal_error("prefill before begin");
    return model_.prefill(*cache_, row, tokens, logits);
  }

  Status decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                std::span<float> logits) override {
    if (!cache_) return internal_error("decode before begin");
    return model_.decode(*cache_, rows, tokens, logits);
  }

 private:
  Llama model_;
  std::optional<KvCache> cache_;
};

}  // namespace

std::unique_ptr<CausalModel> make_cpu_model(std::shared_ptr<const LlamaWeights> weights) {
  return std::make_unique<CpuCausalModel>(std::move(weights));
}

}  // namespace qfs::backbones

#include "methods/models/architectures/llama/cpu_llama.h"

#include <utility>

#include "methods/models/architectures/llama/llama.h"
#include "methods/models/architectures/llama/llama_network.h"
#include "methods/models/nn/input_checks.h"

namespace qfs::architectures {

namespace {

class CpuLlama final : public nn::SequenceModel {
 public:
  CpuLlama(std::shared_ptr<const LlamaWeights> weights, bool bfloat16_products)
      : shape_(shape_of(weights->config)), model_(std::move(weights), bfloat16_products) {}

  const nn::SequenceShape& shape() const override { return shape_; }

  Status begin(int64_t rows, int64_t capacity) override {
    return model_.make_room(cache_, rows, capacity);
  }

  Status prefill(int64_t row, const nn::SequenceInput& input, std::span<float> logits) override {
    const Status can =
        nn::check_prompt(row, input.ids, shape_.vocabulary, cache_.lengths, cache_.capacity());
    if (!can.ok()) return can;
    int64_t& length = cache_.lengths[static_cast<size_t>(row)];
    if (input.shared) {
      const Status copied =
          cache_.copy_shared(*input.shared, static_cast<int64_t>(input.ids.size()), row);
      if (!copied.ok()) return copied;
    }
    const std::span<const int32_t> ids = input.ids;
    const Status read =
        model_.prefill(cache_, row, ids.subspan(static_cast<size_t>(length)), logits);
    if (!read.ok()) length = 0;
    return read;
  }

  Status decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                std::span<float> logits) override {
    return model_.decode(cache_, rows, tokens, logits);
  }

  Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) override {
    return cache_.reassign(rows, sources);
  }

 private:
  nn::SequenceShape shape_;
  Llama model_;
  nn::KeyValueCache cache_;
};

}  // namespace

std::unique_ptr<nn::SequenceModel> make_cpu_model(std::shared_ptr<const LlamaWeights> weights,
                                                  bool bfloat16_products) {
  return std::make_unique<CpuLlama>(std::move(weights), bfloat16_products);
}

}  // namespace qfs::architectures

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

  Result<std::shared_ptr<const nn::Adapters>> bind(const nn::AdapterSet& set) const override {
    return model_.bind(set);
  }

  Result<at::Tensor> stream_before(size_t layer, const nn::SequenceInput& input) override {
    return model_.stream_before(static_cast<int64_t>(layer), input);
  }

  Status begin(int64_t rows, int64_t capacity) override {
    const Status room = model_.make_room(cache_, rows, capacity);
    adapters_.assign(cache_.lengths.size(), nullptr);
    return room;
  }

  Status prefill(int64_t row, const nn::SequenceInput& input, std::span<float> logits) override {
    Status can =
        nn::check_prompt(row, input.ids, shape_.vocabulary, cache_.lengths, cache_.capacity());
    if (can.ok()) can = nn::check_embedded(input, shape_.widths.hidden);
    if (!can.ok()) return can;
    int64_t& length = cache_.lengths[static_cast<size_t>(row)];
    adapters_[static_cast<size_t>(row)] = input.adapters;
    if (input.shared) {
      const Status same = nn::check_shared_adapters(*input.shared, input, adapters_);
      if (!same.ok()) return same;
      const Status copied =
          cache_.copy_shared(*input.shared, static_cast<int64_t>(input.ids.size()), row);
      if (!copied.ok()) return copied;
    }
    const std::span<const int32_t> ids = input.ids;
    const Status read = model_.prefill(cache_, row, ids.subspan(static_cast<size_t>(length)),
                                       logits, input.adapters.get(), input.embedded);
    if (!read.ok()) length = 0;
    return read;
  }

  Status decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                std::span<float> logits) override {
    return model_.decode(cache_, rows, tokens, logits, adapters_);
  }

  Result<at::Tensor> last_states() const override { return model_.last_states(); }

  Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) override {
    const Status moved = cache_.reassign(rows, sources);
    if (moved.ok()) nn::reassign_values(rows, sources, adapters_);
    return moved;
  }

 private:
  nn::SequenceShape shape_;
  Llama model_;
  nn::KeyValueCache cache_;
  std::vector<std::shared_ptr<const nn::Adapters>> adapters_;  ///< of each row
};

}  // namespace

std::unique_ptr<nn::SequenceModel> make_cpu_model(std::shared_ptr<const LlamaWeights> weights,
                                                  bool bfloat16_products) {
  return std::make_unique<CpuLlama>(std::move(weights), bfloat16_products);
}

}  // namespace qfs::architectures

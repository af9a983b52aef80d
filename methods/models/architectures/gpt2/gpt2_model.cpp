#include "methods/models/architectures/gpt2/gpt2_model.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "methods/models/architectures/gpt2/gpt2_decoder.h"
#include "methods/models/nn/causal_attention.h"
#include "methods/models/nn/runtime/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/steps/step_model.h"

namespace qfs::architectures {

namespace {

class Gpt2Model final : public nn::StepModel {
 public:
  explicit Gpt2Model(std::shared_ptr<const Gpt2Weights> weights)
      : nn::StepModel(shape_of(weights->config),
                      {weights->config.layers, weights->config.heads, weights->config.head_dim()},
                      weights->positions),
        weights_(std::move(weights)) {}

  Status prefill(int64_t row, const nn::SequenceInput& input, std::span<float> logits) override {
    const std::span<const int32_t> ids = input.ids;
    const auto count = static_cast<int64_t>(ids.size());
    Status status = nn::check_prompt(row, ids, shape().vocabulary, cache_.lengths, cache_.capacity());
    if (!status.ok()) return status;
    status = nn::check_logits_room(logits, 1, shape().vocabulary);
    if (!status.ok()) return status;
    if (input.shared) {
      status = cache_.copy_shared(*input.shared, count, row);
      if (!status.ok()) return status;
    }
    int64_t& length = cache_.lengths[static_cast<size_t>(row)];
    status =
        nn::guarded("reading a prompt of " + std::to_string(count) + " tokens", [&]() -> Status {
          Prompt prompt(*this, row, length);
          const std::vector<int64_t> rest(ids.begin() + length, ids.end());
          const at::Tensor states =
              gpt2_states(*weights_, at::tensor(rest), at::arange(length, count), prompt);
          copy_logits(multiply(weights_->head, states.narrow(0, states.size(0) - 1, 1)), logits);
          return {};
        });
    length = status.ok() ? count : 0;
    return status;
  }

 private:
  /// The layers' operations in a step of some rows.
  class Step final : public Gpt2Operations {
   public:
    Step(Gpt2Model& model, std::span<const int64_t> rows) : model_(model), rows_(rows) {}

    at::Tensor multiply(const nn::Linear& linear, const at::Tensor& x) override {
      return model_.multiply(linear, x);
    }
    at::Tensor attend(const at::Tensor& qkv, size_t layer) override {
      return model_.attend_past(qkv, layer, rows_);
    }

   private:
    Gpt2Model& model_;
    std::span<const int64_t> rows_;
  };

  /// Those of a prompt, or of its rest where `first` positions are in the cache.
  class Prompt final : public Gpt2Operations {
   public:
    Prompt(Gpt2Model& model, int64_t row, int64_t first)
        : model_(model), row_(row), first_(first) {}

    at::Tensor multiply(const nn::Linear& linear, const at::Tensor& x) override {
      return nn::apply(linear, x);
    }
    at::Tensor attend(const at::Tensor& qkv, size_t layer) override {
      const Gpt2Config& c = model_.weights_->config;
      const int64_t count = qkv.size(0);
      const nn::KeyValues all = model_.held(layer, row_, first_ + count);
      const at::Tensor parts = qkv.view({count, 3, c.heads, c.head_dim()});
      all.keys.narrow(1, first_, count).copy_(parts.select(1, 1).transpose(0, 1));
      all.values.narrow(1, first_, count).copy_(parts.select(1, 2).transpose(0, 1));
      if (first_ == 0) return nn::causal_attention(qkv, c.heads);
      std::vector<nn::KeyValues> seen;
      for (int64_t i = 1; i <= count; ++i) {
        seen.push_back(model_.held(layer, row_, first_ + i));
      }
      return model_.attend(qkv.narrow(1, 0, c.hidden), seen);
    }

   private:
    Gpt2Model& model_;
    int64_t row_;
    int64_t first_;
  };

  at::Tensor compute(std::span<const int64_t> rows, const at::Tensor& tokens,
                     const at::Tensor& positions) override {
    Step step(*this, rows);
    return multiply(weights_->head, gpt2_states(*weights_, tokens, positions, step));
  }

  std::shared_ptr<const Gpt2Weights> weights_;
};

}  // namespace

std::unique_ptr<nn::SequenceModel> make_gpt2_model(std::shared_ptr<const Gpt2Weights> weights) {
  return std::make_unique<Gpt2Model>(std::move(weights));
}

}  // namespace qfs::architectures

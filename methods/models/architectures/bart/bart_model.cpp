#include "methods/models/architectures/bart/bart_model.h"

#include <utility>
#include <vector>

#include "methods/models/architectures/bart/bart_decoder.h"
#include "methods/models/architectures/bart/encoder_input.h"
#include "methods/models/nn/runtime/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/steps/step_model.h"

namespace qfs::architectures {

namespace {

/// What the decoder's layers attend to: keys and values of an encoded input.
struct Source {
  std::vector<nn::KeyValues> layers;
};

class BartModel final : public nn::StepModel {
 public:
  explicit BartModel(std::shared_ptr<const BartWeights> weights)
      : nn::StepModel(shape_of(*weights),
                      {weights->config.decoder_layers, weights->config.decoder_heads,
                       weights->config.decoder_head_dim()},
                      weights->positions),
        weights_(std::move(weights)) {}

  Status begin(int64_t rows, int64_t capacity) override {
    if (Status begun = nn::StepModel::begin(rows, capacity); !begun.ok()) return begun;
    sources_.assign(cache_.lengths.size(), nullptr);
    return {};
  }

  Status prefill(int64_t row, const nn::SequenceInput& input, std::span<float> logits) override {
    Status status = check_prefill(row, input, shape(), cache_.lengths, cache_.capacity());
    if (!status.ok()) return status;
    status = nn::check_logits_room(logits, 1, shape().vocabulary);
    if (!status.ok()) return status;
    const auto states = encode_source(*weights_, input);
    if (!states.ok()) return states.error();
    return nn::guarded("reading the decoder's first tokens", [&]() -> Status {
      sources_[static_cast<size_t>(row)] = project(*states);
      for (const int32_t token : nn::begun_with(input, shape()))
        run({&row, 1}, {&token, 1}, logits);
      return {};
    });
  }

  Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) override {
    if (Status moved = nn::StepModel::reassign(rows, sources); !moved.ok()) return moved;
    nn::reassign_values(rows, sources, sources_);
    return {};
  }

 private:
  /// The layers' operations in a step of some rows.
  class Step final : public DecoderOperations {
   public:
    Step(BartModel& model, std::span<const int64_t> rows) : model_(model), rows_(rows) {}

    at::Tensor multiply(const nn::Linear& linear, const at::Tensor& x) override {
      return model_.multiply(linear, x);
    }

    at::Tensor attend_past(const at::Tensor& qkv, size_t layer) override {
      return model_.attend_past(qkv, layer, rows_);
    }

    at::Tensor attend_source(const at::Tensor& queries, size_t layer) override {
      std::vector<nn::KeyValues> read;
      for (const int64_t row : rows_) {
        read.push_back(model_.sources_[static_cast<size_t>(row)]->layers[layer]);
      }
      return model_.attend(queries, read);
    }

   private:
    BartModel& model_;
    std::span<const int64_t> rows_;
  };

  at::Tensor compute(std::span<const int64_t> rows, const at::Tensor& tokens,
                     const at::Tensor& positions) override {
    Step step(*this, rows);
    return decoder_logits(*weights_, tokens, positions, step);
  }

  std::shared_ptr<const Source> project(const at::Tensor& states) const {
    auto source = std::make_shared<Source>();
    for (const DecoderLayer& layer : weights_->layers) {
      const at::Tensor both = cross_keys_values(*weights_, layer, states);
      source->layers.push_back({both.select(0, 0).contiguous(), both.select(0, 1).contiguous()});
    }
    return source;
  }

  std::shared_ptr<const BartWeights> weights_;
  std::vector<std::shared_ptr<const Source>> sources_;  ///< of each row
};

}  // namespace

std::unique_ptr<nn::SequenceModel> make_bart_model(std::shared_ptr<const BartWeights> weights) {
  return std::make_unique<BartModel>(std::move(weights));
}

}  // namespace qfs::architectures

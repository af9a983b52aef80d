#include "methods/models/architectures/bart/device_bart.h"

#include <ATen/ops/addmm.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "methods/models/architectures/bart/bart_decoder.h"
#include "methods/models/architectures/bart/encoder_input.h"
#include "methods/models/architectures/bart/source_cache.h"
#include "methods/models/nn/device/device_model.h"
#include "methods/models/nn/runtime/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::architectures {

namespace {

class DeviceBart final : public nn::DeviceModel {
 public:
  DeviceBart(std::shared_ptr<const BartWeights> weights, const nn::DeviceServices& services)
      : nn::DeviceModel(shape_of(*weights),
                        {weights->config.decoder_layers, weights->config.decoder_heads,
                         weights->config.decoder_head_dim()},
                        weights->token_embeddings, services, kLists),
        weights_(std::move(weights)),
        sources_(weights_, [this] { forget_records(); }) {}

  Status begin(int64_t rows, int64_t capacity) override {
    if (Status begun = nn::DeviceModel::begin(rows, capacity); !begun.ok()) return begun;
    sources_.begin(cache_.lengths.size());
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
      sources_.store(row, *states);
      const nn::StepMemory* memory = nullptr;
      for (const int32_t token : nn::begun_with(input, shape())) {
        memory = &run({&row, 1}, {&token, 1});
      }
      copy_logits(memory->logits, logits);
      return {};
    });
  }

  Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) override {
    if (Status moved = nn::DeviceModel::reassign(rows, sources); !moved.ok()) return moved;
    sources_.reassign(rows, sources);
    return {};
  }

 private:
  /// Tokens, cache rows and positions; places of the sources and their last positions.
  static constexpr int64_t kLists = 5;

  /// The layers' operations in a step.
  class Step final : public DecoderOperations {
   public:
    Step(const DeviceBart& model, const at::Tensor& inputs, const nn::StepShape& step)
        : model_(model),
          past_{inputs.select(0, 1), inputs.select(0, 2), step.parts},
          source_{inputs.select(0, 3), inputs.select(0, 4), step.source_parts} {}

    at::Tensor multiply(const nn::Linear& linear, const at::Tensor& x) override {
      return nn::apply(linear, x);
    }

    at::Tensor attend_past(const at::Tensor& qkv, size_t layer) override {
      const nn::LayerCache cache = model_.cache(layer);
      const at::Tensor queries = model_.attention().store(qkv, past_, cache);
      return model_.attention().attend(queries, past_, cache);
    }

    at::Tensor attend_source(const at::Tensor& queries, size_t layer) override {
      const BartConfig& c = model_.weights_->config;
      const at::Tensor heads =
          queries.view({queries.size(0), c.decoder_heads, c.decoder_head_dim()});
      return model_.attention().attend(heads, source_, model_.sources_.layer(layer));
    }

   private:
    const DeviceBart& model_;
    nn::CachePlaces past_;
    nn::CachePlaces source_;
  };

  void add_inputs(std::span<const int64_t> rows, std::vector<int32_t>& inputs,
                  nn::StepShape& step) const override {
    int64_t longest = 0;
    for (const int64_t row : rows) inputs.push_back(static_cast<int32_t>(sources_.place(row)));
    for (const int64_t row : rows) {
      inputs.push_back(static_cast<int32_t>(sources_.length(row) - 1));
      longest = std::max(longest, sources_.length(row));
    }
    step.source_parts = nn::recorded_parts(longest, sources_.capacity());
  }

  void compute(const nn::StepMemory& memory, const nn::StepShape& shape) override {
    Step step(*this, memory.inputs, shape);
    const at::Tensor states =
        decoder_states(*weights_, memory.inputs.select(0, 0), memory.inputs.select(0, 2), step);
    at::Tensor scores = memory.logits;
    at::addmm_out(scores, weights_->head.bias, states, weights_->head.weight.t());
  }

  std::shared_ptr<const BartWeights> weights_;
  SourceCache sources_;
};

}  // namespace

std::unique_ptr<nn::SequenceModel> make_device_model(std::shared_ptr<const BartWeights> weights,
                                                     const nn::DeviceServices& services) {
  return std::make_unique<DeviceBart>(std::move(weights), services);
}

}  // namespace qfs::architectures

#include "methods/models/architectures/llama/device_llama.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "methods/models/architectures/llama/llama_network.h"
#include "methods/models/nn/device/device_model.h"
#include "methods/models/nn/rope.h"
#include "methods/models/nn/runtime/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::architectures {

namespace {

/// Tokens of a prompt or step with their places in the cache, on the device.
struct Inputs {
  at::Tensor tokens;  ///< int32 [tokens]
  nn::CachePlaces places;

  /// Of int32 [3, tokens].
  static Inputs of(const at::Tensor& packed, int64_t parts) {
    return {packed.select(0, 0), {packed.select(0, 1), packed.select(0, 2), parts}};
  }
};

class DeviceLlama final : public nn::DeviceModel {
 public:
  DeviceLlama(std::shared_ptr<const DeviceLlamaWeights> weights, const nn::DeviceServices& services)
      : nn::DeviceModel(
            shape_of(weights->config),
            {weights->config.layers, weights->config.kv_heads, weights->config.head_dim},
            weights->embedding, services, kLists),
        weights_(std::move(weights)),
        services_(services),
        rotations_(config().rope, config().head_dim, device()) {}

  Status begin(int64_t rows, int64_t capacity) override {
    const Status begun = nn::DeviceModel::begin(rows, capacity);
    if (!begun.ok() || rotations_.holds(cache_.capacity())) return begun;
    forget_records();
    const Status covered = nn::guarded("making the table of rotations", [&]() -> Status {
      rotations_.cover(cache_.capacity());
      return {};
    });
    if (!covered.ok()) cache_.lengths.clear();
    return covered;
  }

  Status prefill(int64_t row, const nn::SequenceInput& input, std::span<float> logits) override {
    const std::span<const int32_t> tokens = input.ids;
    Status status =
        nn::check_prompt(row, tokens, config().vocabulary, cache_.lengths, cache_.capacity());
    if (!status.ok()) return status;
    status = nn::check_logits_room(logits, 1, config().vocabulary);
    if (!status.ok()) return status;
    const auto count = static_cast<int64_t>(tokens.size());
    int64_t& length = cache_.lengths[static_cast<size_t>(row)];
    if (input.shared) {
      const Status copied = cache_.copy_shared(*input.shared, count, row);
      if (!copied.ok()) return copied;
    }
    const Status read =
        nn::guarded("reading a prompt of " + std::to_string(count) + " tokens", [&] {
          const auto rest = tokens.subspan(static_cast<size_t>(length));
          const int64_t whole_prompt = length == 0 ? row : kNoPrompt;
          const at::Tensor inputs = prompt_inputs(rest, row, length).to(device());
          const at::Tensor hidden = forward(Inputs::of(inputs, nn::parts_of(count)), whole_prompt);
          const at::Tensor last = hidden.narrow(0, hidden.size(0) - 1, 1);
          copy_logits(at::mm(normed(last, weights_->output_norm), weights_->head.t()), logits);
          return Status();
        });
    length = read.ok() ? count : 0;
    return read;
  }

 private:
  static constexpr int64_t kLists = 3;  ///< tokens, cache rows, positions
  static constexpr int64_t kNoPrompt = -1;

  const LlamaConfig& config() const { return weights_->config; }

  void compute(const nn::StepMemory& memory, const nn::StepShape& step) override {
    const at::Tensor hidden = forward(Inputs::of(memory.inputs, step.parts), kNoPrompt);
    at::Tensor scores = memory.logits;
    at::mm_out(scores, normed(hidden, weights_->output_norm), weights_->head.t());
  }

  static at::Tensor prompt_inputs(std::span<const int32_t> tokens, int64_t row, int64_t begin) {
    const auto count = tokens.size();
    std::vector<int32_t> inputs(tokens.begin(), tokens.end());
    inputs.insert(inputs.end(), count, static_cast<int32_t>(row));
    inputs.resize(kLists * count);
    std::iota(inputs.end() - static_cast<std::ptrdiff_t>(count), inputs.end(),
              static_cast<int32_t>(begin));
    return packed(inputs, static_cast<int64_t>(count));
  }

  at::Tensor normed(const at::Tensor& hidden, const at::Tensor& weight) const {
    return at::rms_norm(hidden, {config().hidden}, weight, config().rms_eps);
  }

  static at::Tensor linear(const at::Tensor& rows, const at::Tensor& weight,
                           const at::Tensor& bias) {
    return bias.defined() ? at::addmm(bias, rows, weight.t()) : at::mm(rows, weight.t());
  }

  /// Residual stream of the last token of a prompt, or of every token of a step: [rows, hidden].
  at::Tensor forward(const Inputs& inputs, int64_t prompt_row) {
    at::Tensor hidden = embed(*weights_, inputs.tokens);
    const int64_t count = inputs.tokens.size(0);
    for (int64_t l = 0; l < config().layers; ++l) {
      const DeviceLlamaLayer& layer = weights_->layers[static_cast<size_t>(l)];
      const nn::LayerCache past = cache(static_cast<size_t>(l));
      at::Tensor queries =
          attention().store(linear(normed(hidden, layer.attention_norm), layer.qkv, layer.qkv_bias),
                            inputs.places, past, rotations_.rotations());
      nn::CachePlaces asking = inputs.places;
      const bool whole_prompt = prompt_row != kNoPrompt && l + 1 < config().layers;
      if (prompt_row != kNoPrompt && !whole_prompt) {
        // Only the last position is read from here on: as one step of decoding.
        queries = queries.narrow(0, count - 1, 1);
        hidden = hidden.narrow(0, count - 1, 1);
        asking.rows = asking.rows.narrow(0, count - 1, 1);
        asking.positions = asking.positions.narrow(0, count - 1, 1);
      }
      const at::Tensor attended = whole_prompt ? attend_prompt(queries, past, prompt_row)
                                               : attention().attend(queries, asking, past);
      hidden = at::addmm(hidden, attended, layer.attention_output.t());
      if (layer.output_bias.defined()) hidden = hidden + layer.output_bias;
      const at::Tensor gate_up =
          linear(normed(hidden, layer.mlp_norm), layer.gate_up, layer.gate_up_bias);
      hidden = at::addmm(hidden, activated(gate_up), layer.down.t());
      if (layer.down_bias.defined()) hidden = hidden + layer.down_bias;
    }
    return hidden;
  }

  /// Causal attention of a whole prompt: [tokens, heads * dim].
  at::Tensor attend_prompt(const at::Tensor& queries, const nn::LayerCache& cache,
                           int64_t row) const {
    const LlamaConfig& c = config();
    const int64_t count = queries.size(0);
    // The memory-efficient backend, which float32 takes, shares no keys among queries.
    const bool shares = queries.scalar_type() != at::kFloat;
    const auto past = [&](const at::Tensor& held) {
      const at::Tensor heads = held.select(0, row).narrow(1, 0, count);
      return (shares ? heads : heads.repeat_interleave(c.heads / c.kv_heads, 0)).unsqueeze(0);
    };
    const at::Tensor attended = at::scaled_dot_product_attention(
        queries.transpose(0, 1).unsqueeze(0), past(cache.keys), past(cache.values), std::nullopt,
        0.0, true, std::nullopt, shares);
    return attended.squeeze(0).transpose(0, 1).reshape({count, c.query_width()});
  }

  at::Tensor activated(const at::Tensor& gate_up) const {
    kernels::GatedActivation task;
    task.type = nn::element_type(gate_up);
    task.gate_up = gate_up.const_data_ptr();
    task.tokens = gate_up.size(0);
    task.width = config().intermediate;
    const at::Tensor out = at::empty({task.tokens, task.width}, gate_up.options());
    task.out = out.mutable_data_ptr();
    services_.must(
        services_.kernels->gated_activation(task, services_.current_stream(device().index())));
    return out;
  }

  std::shared_ptr<const DeviceLlamaWeights> weights_;
  nn::DeviceServices services_;
  nn::RotationTable rotations_;
};

}  // namespace

std::unique_ptr<nn::SequenceModel> make_device_model(
    std::shared_ptr<const DeviceLlamaWeights> weights, const nn::DeviceServices& services) {
  return std::make_unique<DeviceLlama>(std::move(weights), services);
}

}  // namespace qfs::architectures

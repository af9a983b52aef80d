#include "methods/backbones/llama/device_llama.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "methods/backbones/cache_rows.h"
#include "methods/backbones/llama/llama_network.h"
#include "methods/backbones/step_graphs.h"
#include "methods/backbones/torch_runtime.h"

namespace qfs::backbones {

namespace {

using kernels::ElementType;

ElementType element_type(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return ElementType::f32;
    case at::kBFloat16:
      return ElementType::bf16;
    case at::kHalf:
      return ElementType::f16;
    default:
      throw std::invalid_argument("weights of an unexpected element type");
  }
}

/// Tokens of a prompt or step with their cache rows and positions, on the device.
struct Inputs {
  at::Tensor tokens;     ///< int32 [tokens]
  at::Tensor rows;       ///< int32 [tokens]
  at::Tensor positions;  ///< int32 [tokens]
  int64_t parts = 0;     ///< DecodeAttention::parts

  /// Of `packed`, int32 [3, tokens].
  static Inputs of(const at::Tensor& packed, int64_t parts) {
    return {packed.select(0, 0), packed.select(0, 1), packed.select(0, 2), parts};
  }
};

at::Tensor packed_on_host(std::span<const int32_t> tokens, const std::vector<int32_t>& rows,
                          const std::vector<int32_t>& positions) {
  const at::Tensor packed = at::empty({3, static_cast<int64_t>(tokens.size())}, at::kInt);
  int32_t* out = packed.mutable_data_ptr<int32_t>();
  out = std::ranges::copy(tokens, out).out;
  out = std::ranges::copy(rows, out).out;
  std::ranges::copy(positions, out);
  return packed;
}

/// Where a recorded step finds its inputs and leaves its logits.
struct StepMemory {
  at::Tensor inputs;  ///< int32 [3, rows]
  at::Tensor logits;  ///< [rows, vocabulary]
};

class DeviceLlama final : public SequenceModel {
 public:
  DeviceLlama(std::shared_ptr<const DeviceLlamaWeights> weights, const DeviceServices& services)
      : weights_(std::move(weights)),
        shape_(shape_of(weights_->config)),
        services_(services),
        type_(element_type(weights_->embedding)),
        device_(weights_->embedding.device()),
        graphs_(services.graphs, device_.index()) {}

  const SequenceShape& shape() const override { return shape_; }

  Status begin(int64_t rows, int64_t capacity) override {
    const LlamaConfig& c = config();
    if (rows < 1 || capacity < 1 || capacity > c.context) {
      return invalid_argument("a cache of " + std::to_string(rows) + " rows of " +
                              std::to_string(capacity) + " tokens; the backbone's window has " +
                              std::to_string(c.context));
    }
    return guarded("allocating the key-value cache", [&]() -> Status {
      if (!keys_.defined() || keys_.size(1) < rows || keys_.size(3) < capacity) {
        graphs_.clear();
        keys_.reset();
        values_.reset();
        keys_ = at::empty({c.layers, rows, c.kv_heads, capacity, c.head_dim},
                          weights_->embedding.options());
        values_ = at::empty_like(keys_);
      }
      lengths_.assign(static_cast<size_t>(keys_.size(1)), 0);
      return {};
    });
  }

  Status prefill(int64_t row, const SequenceInput& input, std::span<float> logits) override {
    const std::span<const int32_t> tokens = input.ids;
    if (Status status = check(tokens, {&row, 1}, logits); !status.ok()) return status;
    const auto count = static_cast<int64_t>(tokens.size());
    int64_t& length = lengths_[static_cast<size_t>(row)];
    if (count > capacity() || length != 0) {
      return invalid_argument("a prompt of " + std::to_string(count) + " tokens for a row of " +
                              std::to_string(capacity()) + " that holds " + std::to_string(length));
    }
    if (input.shared) {
      const Status copied = copy_shared(*input.shared, count, row, keys_, values_, lengths_);
      if (!copied.ok()) return copied;
    }
    const Status read = guarded("reading a prompt of " + std::to_string(count) + " tokens", [&] {
      const auto rest = tokens.subspan(static_cast<size_t>(length));
      const std::vector<int32_t> rows(rest.size(), static_cast<int32_t>(row));
      std::vector<int32_t> positions(rest.size());
      std::iota(positions.begin(), positions.end(), static_cast<int32_t>(length));
      const int64_t whole_prompt = length == 0 ? row : kNoPrompt;
      const at::Tensor inputs = packed_on_host(rest, rows, positions).to(device_);
      const at::Tensor hidden = forward(Inputs::of(inputs, parts_of(count)), whole_prompt);
      const at::Tensor last = hidden.narrow(0, hidden.size(0) - 1, 1);
      copy_logits(at::mm(normed(last, weights_->output_norm), weights_->head.t()), logits);
      return Status();
    });
    length = read.ok() ? count : 0;
    return read;
  }

  Status decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                std::span<float> logits) override {
    if (Status status = check(tokens, rows, logits); !status.ok()) return status;
    if (tokens.size() != rows.size()) {
      return internal_error("a decode step got " + std::to_string(tokens.size()) + " tokens for " +
                            std::to_string(rows.size()) + " rows");
    }
    std::vector<int32_t> cache_rows;
    std::vector<int32_t> positions;
    for (const int64_t row : rows) {
      const int64_t length = lengths_[static_cast<size_t>(row)];
      if (length < 1 || length >= capacity()) {
        return invalid_argument("row " + std::to_string(row) + " holds " + std::to_string(length) +
                                " of " + std::to_string(capacity()) + " tokens");
      }
      cache_rows.push_back(static_cast<int32_t>(row));
      positions.push_back(static_cast<int32_t>(length));
    }
    return guarded("decoding", [&]() -> Status {
      const StepMemory& memory = step_memory(static_cast<int64_t>(tokens.size()));
      memory.inputs.copy_(packed_on_host(tokens, cache_rows, positions));
      const int64_t parts = recorded_parts(*std::ranges::max_element(positions) + 1, capacity());
      graphs_.run({static_cast<int64_t>(tokens.size()), parts}, [this, memory, parts] {
        const at::Tensor hidden = forward(Inputs::of(memory.inputs, parts), kNoPrompt);
        at::Tensor scores = memory.logits;
        at::mm_out(scores, normed(hidden, weights_->output_norm), weights_->head.t());
      });
      copy_logits(memory.logits, logits);
      for (const int64_t row : rows) ++lengths_[static_cast<size_t>(row)];
      return {};
    });
  }

  Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) override {
    return reassign_rows(rows, sources, keys_, values_, lengths_);
  }

 private:
  static constexpr int64_t kNoPrompt = -1;

  const LlamaConfig& config() const { return weights_->config; }
  int64_t capacity() const { return keys_.size(3); }

  Status check(std::span<const int32_t> tokens, std::span<const int64_t> rows,
               std::span<float> logits) const {
    if (tokens.empty()) return invalid_argument("no tokens");
    for (const int32_t token : tokens) {
      if (token < 0 || token >= config().vocabulary) {
        return invalid_argument("token id " + std::to_string(token) + " is outside 0.." +
                                std::to_string(config().vocabulary - 1));
      }
    }
    for (const int64_t row : rows) {
      if (row < 0 || row >= static_cast<int64_t>(lengths_.size())) {
        return internal_error("row " + std::to_string(row) + " is outside the cache");
      }
    }
    if (logits.size() != rows.size() * static_cast<size_t>(config().vocabulary)) {
      return internal_error("logits of another size than " + std::to_string(rows.size()) + " rows");
    }
    return {};
  }

  static int64_t parts_of(int64_t positions) {
    return (positions + kernels::kDecodePart - 1) / kernels::kDecodePart;
  }

  /// Stays where it is as long as the model: records point to it.
  const StepMemory& step_memory(int64_t rows) {
    const auto [found, made] = step_memory_.try_emplace(rows);
    if (made) {
      found->second = {at::empty({3, rows}, weights_->embedding.options().dtype(at::kInt)),
                       at::empty({rows, config().vocabulary}, weights_->embedding.options())};
    }
    return found->second;
  }

  void* stream() const { return services_.current_stream(device_.index()); }

  void must(int code) const {
    if (code != 0) throw std::runtime_error(services_.error_text(code));
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
      at::Tensor queries =
          store(linear(normed(hidden, layer.attention_norm), layer.qkv, layer.qkv_bias), l, inputs);
      Inputs asking = inputs;
      const bool whole_prompt = prompt_row != kNoPrompt && l + 1 < config().layers;
      if (prompt_row != kNoPrompt && !whole_prompt) {
        // Only the last position is read from here on: as one step of decoding.
        queries = queries.narrow(0, count - 1, 1);
        hidden = hidden.narrow(0, count - 1, 1);
        asking.rows = inputs.rows.narrow(0, count - 1, 1);
        asking.positions = inputs.positions.narrow(0, count - 1, 1);
      }
      const at::Tensor attended =
          whole_prompt ? attend_prompt(queries, l, prompt_row) : attend_step(queries, l, asking);
      hidden = at::addmm(hidden, attended, layer.attention_output.t());
      if (layer.output_bias.defined()) hidden = hidden + layer.output_bias;
      const at::Tensor gate_up =
          linear(normed(hidden, layer.mlp_norm), layer.gate_up, layer.gate_up_bias);
      hidden = at::addmm(hidden, activated(gate_up), layer.down.t());
      if (layer.down_bias.defined()) hidden = hidden + layer.down_bias;
    }
    return hidden;
  }

  /// Rotated queries [tokens, heads, dim]; keys and values go to the cache.
  at::Tensor store(const at::Tensor& qkv, int64_t layer, const Inputs& inputs) {
    const LlamaConfig& c = config();
    const at::Tensor queries = at::empty({qkv.size(0), c.heads, c.head_dim}, qkv.options());
    const at::Tensor keys = keys_.select(0, layer);
    const at::Tensor values = values_.select(0, layer);
    kernels::RotateStore task;
    task.type = type_;
    task.qkv = qkv.const_data_ptr();
    task.cosines = weights_->cosines.const_data_ptr<float>();
    task.sines = weights_->sines.const_data_ptr<float>();
    task.rows = inputs.rows.const_data_ptr<int32_t>();
    task.positions = inputs.positions.const_data_ptr<int32_t>();
    task.tokens = qkv.size(0);
    task.heads = c.heads;
    task.kv_heads = c.kv_heads;
    task.dim = c.head_dim;
    task.capacity = capacity();
    task.queries = queries.mutable_data_ptr();
    task.keys = keys.mutable_data_ptr();
    task.values = values.mutable_data_ptr();
    must(services_.kernels->rotate_store(task, stream()));
    return queries;
  }

  /// Causal attention of a whole prompt: [tokens, heads * dim].
  at::Tensor attend_prompt(const at::Tensor& queries, int64_t layer, int64_t row) const {
    const LlamaConfig& c = config();
    const int64_t count = queries.size(0);
    const auto past = [&](const at::Tensor& cache) {
      const at::Tensor heads = cache.select(0, layer).select(0, row).narrow(1, 0, count);
      // The memory-efficient backend, which float32 takes, shares no keys among queries.
      return (type_ == ElementType::f32 ? heads.repeat_interleave(c.heads / c.kv_heads, 0) : heads)
          .unsqueeze(0);
    };
    const at::Tensor attended = at::scaled_dot_product_attention(
        queries.transpose(0, 1).unsqueeze(0), past(keys_), past(values_), std::nullopt, 0.0, true,
        std::nullopt, type_ != ElementType::f32);
    return attended.squeeze(0).transpose(0, 1).reshape({count, c.query_width()});
  }

  /// Attention of one query a row over all that the row holds: [rows, heads * dim].
  at::Tensor attend_step(const at::Tensor& queries, int64_t layer, const Inputs& inputs) const {
    const LlamaConfig& c = config();
    kernels::DecodeAttention task;
    task.type = type_;
    task.tokens = queries.size(0);
    task.heads = c.heads;
    task.kv_heads = c.kv_heads;
    task.dim = c.head_dim;
    task.capacity = capacity();
    task.parts = inputs.parts;
    task.scale = 1.0f / std::sqrt(static_cast<float>(c.head_dim));
    const at::Tensor out = at::empty({task.tokens, c.query_width()}, queries.options());
    const at::Tensor workspace =
        at::empty({kernels::decode_workspace(task.tokens, c.heads, task.parts, c.head_dim)},
                  queries.options().dtype(at::kFloat));
    task.queries = queries.const_data_ptr();
    task.keys = keys_.select(0, layer).const_data_ptr();
    task.values = values_.select(0, layer).const_data_ptr();
    task.rows = inputs.rows.const_data_ptr<int32_t>();
    task.positions = inputs.positions.const_data_ptr<int32_t>();
    task.workspace = workspace.mutable_data_ptr<float>();
    task.out = out.mutable_data_ptr();
    must(services_.kernels->decode_attention(task, stream()));
    return out;
  }

  at::Tensor activated(const at::Tensor& gate_up) const {
    kernels::GatedActivation task;
    task.type = type_;
    task.gate_up = gate_up.const_data_ptr();
    task.tokens = gate_up.size(0);
    task.width = config().intermediate;
    const at::Tensor out = at::empty({task.tokens, task.width}, gate_up.options());
    task.out = out.mutable_data_ptr();
    must(services_.kernels->gated_activation(task, stream()));
    return out;
  }

  static void copy_logits(const at::Tensor& scores, std::span<float> logits) {
    const at::Tensor host = scores.to(at::kCPU, at::kFloat).contiguous();
    std::copy_n(host.const_data_ptr<float>(), logits.size(), logits.data());
  }

  std::shared_ptr<const DeviceLlamaWeights> weights_;
  SequenceShape shape_;
  DeviceServices services_;
  ElementType type_;
  at::Device device_;
  at::Tensor keys_;  ///< [layers, rows, kv_heads, capacity, head_dim]
  at::Tensor values_;
  std::vector<int64_t> lengths_;
  std::map<int64_t, StepMemory> step_memory_;  ///< by rows
  StepGraphs graphs_;
};

}  // namespace

DeviceServices plugin_services(const kernels::DevicePlugin& plugin, bool graphs) {
  return {.kernels = plugin.kernels,
          .current_stream = plugin.current_stream,
          .error_text = plugin.error_text,
          .graphs = graphs ? &plugin.graphs : nullptr};
}

DeviceServices cpu_device_services() {
  return {.kernels = &kernels::cpu_device_kernels(),
          .current_stream = [](int) -> void* { return nullptr; },
          .error_text = [](int) { return "CPU kernels do not fail"; }};
}

std::unique_ptr<SequenceModel> make_device_model(std::shared_ptr<const DeviceLlamaWeights> weights,
                                                 const DeviceServices& services) {
  return std::make_unique<DeviceLlama>(std::move(weights), services);
}

}  // namespace qfs::backbones

#include "methods/models/nn/device/device_model.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "methods/models/nn/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/steps/row_products.h"

namespace qfs::nn {

namespace {

constexpr int64_t kLists = 3;
constexpr int64_t kListsWithSource = 5;

/// Lists of equal lengths, one after the other, as int32 [lists, length] on the host.
at::Tensor packed(const std::vector<int32_t>& lists, int64_t length) {
  const at::Tensor packed =
      at::empty({static_cast<int64_t>(lists.size()) / length, length}, at::kInt);
  std::ranges::copy(lists, packed.mutable_data_ptr<int32_t>());
  return packed;
}

/// Tokens of a prompt, their cache row and positions from `begin` on: int32 [3, tokens].
at::Tensor prompt_inputs(std::span<const int32_t> tokens, int64_t row, int64_t begin) {
  const auto count = tokens.size();
  std::vector<int32_t> inputs(tokens.begin(), tokens.end());
  inputs.insert(inputs.end(), count, static_cast<int32_t>(row));
  inputs.resize(kLists * count);
  std::iota(inputs.end() - static_cast<std::ptrdiff_t>(count), inputs.end(),
            static_cast<int32_t>(begin));
  return packed(inputs, static_cast<int64_t>(count));
}

}  // namespace

/// What steps and prompts compute alike.
class DeviceModel::Operations : public LayerOperations {
 public:
  Operations(const DeviceModel& model, CachePlaces places, std::vector<AdaptedRows> adapted)
      : LayerOperations(std::move(adapted)), model_(model), places_(std::move(places)) {}

  at::Tensor gated_silu(const at::Tensor& gate_up) override {
    kernels::GatedActivation task;
    task.type = element_type(gate_up);
    task.gate_up = gate_up.const_data_ptr();
    task.tokens = gate_up.size(0);
    task.width = gate_up.size(1) / 2;
    const at::Tensor out = at::empty({task.tokens, task.width}, gate_up.options());
    task.out = out.mutable_data_ptr();
    const DeviceServices& services = model_.services_;
    services.must(
        services.kernels->gated_activation(task, services.current_stream(model_.device().index())));
    return out;
  }

 protected:
  /// Queries [rows, heads, head_dim]; keys and values go into the cache.
  at::Tensor store(size_t layer, const at::Tensor& qkv) const {
    return model_.attention_.store(qkv, places_, model_.cache(layer), model_.rotations());
  }

  const DeviceModel& model_;
  CachePlaces places_;
};

class DeviceModel::Step final : public Operations {
 public:
  /// `rows` may be empty where none has adapters.
  Step(const DeviceModel& model, std::span<const int64_t> rows, const at::Tensor& inputs,
       const StepShape& step)
      : Operations(model, {inputs.select(0, 1), inputs.select(0, 2), step.parts},
                   adapted_of(model, rows)),
        rows_(rows) {
    if (model.sources_) {
      source_ = {inputs.select(0, 3), inputs.select(0, 4), step.source_parts};
    }
  }

  at::Tensor multiply(const Linear& linear, const at::Tensor& x) override {
    if (rows_.empty()) return apply(linear, x);
    const auto product = [](const Linear& layer, const at::Tensor& of) { return apply(layer, of); };
    return adapted_rows(
        linear, x, rows_.size(), [&](size_t i) { return model_.adapters_of(rows_[i]); }, product);
  }

  at::Tensor attend_past(size_t layer, const Linear& qkv, const at::Tensor& x) override {
    const at::Tensor queries = store(layer, multiply(qkv, x));
    return beside_attention(layer, model_.attention_.attend(queries, places_, model_.cache(layer)),
                            queries);
  }

  at::Tensor attend_source(size_t layer, const at::Tensor& queries) override {
    const DecoderShape& c = model_.decoder_->shape();
    return model_.attention_.attend(queries.view({queries.size(0), c.heads, c.head_dim}), source_,
                                    model_.sources_->layer(layer));
  }

 private:
  /// Rows beside one another with the same adapters together.
  static std::vector<AdaptedRows> adapted_of(const DeviceModel& model,
                                             std::span<const int64_t> rows) {
    std::vector<AdaptedRows> adapted;
    for (size_t i = 0; i < rows.size(); ++i) {
      const Adapters* own = model.adapters_of(rows[i]);
      if (adapted.empty() || adapted.back().adapters != own) {
        adapted.push_back({static_cast<int64_t>(i), 0, own});
      }
      ++adapted.back().count;
    }
    return adapted;
  }

  std::span<const int64_t> rows_;
  CachePlaces source_;
};

/// A prompt, or the rest of one whose beginning is in the cache. From the last layer's attention on
/// only the last position is computed, as one step of decoding.
class DeviceModel::Prompt final : public Operations {
 public:
  Prompt(const DeviceModel& model, const at::Tensor& inputs, int64_t row, bool whole,
         int64_t positions)
      : Operations(model, {inputs.select(0, 1), inputs.select(0, 2), parts_of(positions)},
                   {{0, inputs.size(1), model.adapters_of(row)}}),
        row_(row),
        whole_(whole) {}

  at::Tensor multiply(const Linear& linear, const at::Tensor& x) override {
    return adapted(linear, x, model_.adapters_of(row_));
  }

  at::Tensor attend_past(size_t layer, const Linear& qkv, const at::Tensor& x) override {
    const LayerCache past = model_.cache(layer);
    const at::Tensor queries = store(layer, multiply(qkv, x));
    if (is_last(layer)) {
      const CachePlaces asking = {last(places_.rows), last(places_.positions), places_.parts};
      return beside_attention(layer, model_.attention_.attend(last(queries), asking, past),
                              last(queries));
    }
    return beside_attention(
        layer,
        whole_ ? attend_whole(queries, past) : model_.attention_.attend(queries, places_, past),
        queries);
  }

  at::Tensor kept(size_t layer, const at::Tensor& stream) override {
    return is_last(layer) ? last(stream) : stream;
  }

 private:
  static at::Tensor last(const at::Tensor& rows) { return rows.narrow(0, rows.size(0) - 1, 1); }

  bool is_last(size_t layer) const {
    return static_cast<int64_t>(layer) + 1 == model_.decoder_->shape().layers;
  }

  /// Causal attention of a whole prompt: [tokens, heads * head_dim].
  at::Tensor attend_whole(const at::Tensor& queries, const LayerCache& cache) const {
    const DecoderShape& c = model_.decoder_->shape();
    const int64_t count = queries.size(0);
    // The memory-efficient backend, which float32 takes, shares no keys among queries.
    const bool shares = queries.scalar_type() != at::kFloat;
    const auto past = [&](const at::Tensor& held) {
      const at::Tensor heads = held.select(0, row_).narrow(1, 0, count);
      return (shares ? heads : heads.repeat_interleave(c.heads / c.kv_heads, 0)).unsqueeze(0);
    };
    const at::Tensor attended = at::scaled_dot_product_attention(
        queries.transpose(0, 1).unsqueeze(0), past(cache.keys), past(cache.values), std::nullopt,
        0.0, true, std::nullopt, shares);
    return attended.squeeze(0).transpose(0, 1).reshape({count, c.query_width()});
  }

  int64_t row_;
  bool whole_;
};

DeviceModel::DeviceModel(std::shared_ptr<const Decoder> decoder, const DeviceServices& services)
    : DecoderModel(std::move(decoder)),
      services_(services),
      attention_(services, device()),
      graphs_(services.graphs, device().index()) {
  const DecoderShape& c = decoder_->shape();
  if (c.rope) rotations_.emplace(*c.rope, c.head_dim, device());
  if (c.sequence.encoder_decoder()) {
    sources_.emplace(decoder_, [this] { graphs_.clear(); });
  }
}

Status DeviceModel::begin(int64_t rows, int64_t capacity) {
  const DecoderShape& c = decoder_->shape();
  const Status fits = check_cache_size(rows, capacity, c.sequence.context);
  if (!fits.ok()) return fits;
  if (!cache_.has_room(rows, capacity)) graphs_.clear();
  const Status room =
      cache_.make_room({c.layers, c.kv_heads, c.head_dim},
                       at::TensorOptions(decoder_->type()).device(device()), rows, capacity);
  if (!room.ok()) return room;
  adapters_.assign(cache_.lengths.size(), nullptr);
  if (sources_) sources_->begin(cache_.lengths.size());
  if (!rotations_ || rotations_->holds(cache_.capacity())) return {};
  graphs_.clear();
  const Status covered = guarded("making the table of rotations", [&]() -> Status {
    rotations_->cover(cache_.capacity());
    return {};
  });
  if (!covered.ok()) cache_.lengths.clear();
  return covered;
}

Status DeviceModel::prefill(int64_t row, const SequenceInput& input, std::span<float> logits) {
  if (sources_) return prefill_source(row, input, logits);
  const std::span<const int32_t> tokens = input.ids;
  Status status = check_prompt(row, tokens, shape().vocabulary, cache_.lengths, cache_.capacity());
  if (status.ok()) status = check_embedded(input, decoder_->hidden());
  if (status.ok()) status = check_logits_room(logits, 1, shape().vocabulary);
  if (!status.ok()) return status;
  const auto count = static_cast<int64_t>(tokens.size());
  int64_t& length = cache_.lengths[static_cast<size_t>(row)];
  adapters_[static_cast<size_t>(row)] = input.adapters;
  if (input.shared) {
    status = check_shared_adapters(*input.shared, input, adapters_);
    if (!status.ok()) return status;
    const Status copied = cache_.copy_shared(*input.shared, count, row);
    if (!copied.ok()) return copied;
  }
  const Status read = guarded("reading a prompt of " + std::to_string(count) + " tokens", [&] {
    const auto rest = tokens.subspan(static_cast<size_t>(length));
    const at::Tensor inputs = prompt_inputs(rest, row, length).to(device());
    Prompt run(*this, inputs, row, length == 0, count);
    const at::Tensor stream =
        entering(*decoder_, inputs.select(0, 0), inputs.select(0, 2), input.embedded);
    last_states_ = decoder_->last_states(run_layers(*decoder_, stream, run));
    copy_logits(apply(decoder_->head(), last_states_), logits);
    return Status();
  });
  length = read.ok() ? count : 0;
  return read;
}

Status DeviceModel::prefill_source(int64_t row, const SequenceInput& input,
                                   std::span<float> logits) {
  Status status = check_source_prompt(row, input, shape(), cache_.lengths, cache_.capacity());
  if (!status.ok()) return status;
  status = check_logits_room(logits, 1, shape().vocabulary);
  if (!status.ok()) return status;
  const auto states = decoder_->encode(input);
  if (!states.ok()) return states.error();
  return guarded("reading the decoder's first tokens", [&]() -> Status {
    adapters_[static_cast<size_t>(row)] = input.adapters;
    sources_->store(row, *states, input.adapters.get());
    const StepMemory* memory = nullptr;
    for (const int32_t token : begun_with(input, shape())) memory = &run({&row, 1}, {&token, 1});
    copy_logits(memory->logits, logits);
    return {};
  });
}

Status DeviceModel::decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                           std::span<float> logits) {
  Status status = check_step(rows, tokens, shape().vocabulary, cache_.lengths, cache_.capacity());
  if (!status.ok()) return status;
  status = check_logits_room(logits, rows.size(), shape().vocabulary);
  if (!status.ok()) return status;
  return guarded("decoding", [&]() -> Status {
    copy_logits(run(rows, tokens).logits, logits);
    return {};
  });
}

Status DeviceModel::reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) {
  if (Status moved = cache_.reassign(rows, sources); !moved.ok()) return moved;
  reassign_values(rows, sources, adapters_);
  if (sources_) sources_->reassign(rows, sources);
  return {};
}

const DeviceModel::StepMemory& DeviceModel::run(std::span<const int64_t> rows,
                                                std::span<const int32_t> tokens) {
  const auto count = static_cast<int64_t>(rows.size());
  std::vector<int32_t> inputs(tokens.begin(), tokens.end());
  const auto add = [&](const auto& of_row) {
    int64_t most = 0;
    for (const int64_t row : rows) {
      inputs.push_back(static_cast<int32_t>(of_row(row)));
      most = std::max<int64_t>(most, inputs.back());
    }
    return most;
  };
  add([](int64_t row) { return row; });
  const int64_t last = add([&](int64_t row) { return cache_.lengths[static_cast<size_t>(row)]; });
  StepShape step{.rows = count, .parts = recorded_parts(last + 1, cache_.capacity())};
  if (sources_) {
    add([&](int64_t row) { return sources_->place(row); });
    const int64_t last_read = add([&](int64_t row) { return sources_->length(row) - 1; });
    step.source_parts = recorded_parts(last_read + 1, sources_->capacity());
  }
  const StepMemory& memory = memory_of(count);
  memory.inputs.copy_(packed(inputs, count));
  const bool any =
      std::ranges::any_of(rows, [this](int64_t row) { return adapters_of(row) != nullptr; });
  if (any) {
    // What rows add differs from step to step, so no step is recorded.
    compute(rows, memory, step);
  } else {
    graphs_.run(step, [this, memory, step] { compute({}, memory, step); });
  }
  for (const int64_t row : rows) ++cache_.lengths[static_cast<size_t>(row)];
  last_states_ = memory.states;
  return memory;
}

void DeviceModel::compute(std::span<const int64_t> rows, const StepMemory& memory,
                          const StepShape& shape) {
  Step run(*this, rows, memory.inputs, shape);
  const at::Tensor entering =
      decoder_->embed(memory.inputs.select(0, 0), memory.inputs.select(0, 2));
  const at::Tensor states = decoder_->last_states(run_layers(*decoder_, entering, run));
  const Linear& head = decoder_->head();
  memory.states.copy_(states);
  at::Tensor scores = memory.logits;
  if (head.bias.defined()) {
    at::addmm_out(scores, head.bias, states, head.weight.t());
  } else {
    at::mm_out(scores, states, head.weight.t());
  }
}

const DeviceModel::StepMemory& DeviceModel::memory_of(int64_t rows) {
  const auto [found, made] = memory_.try_emplace(rows);
  if (made) {
    const at::TensorOptions options = at::TensorOptions(decoder_->type()).device(device());
    found->second = {
        at::empty({sources_ ? kListsWithSource : kLists, rows}, options.dtype(at::kInt)),
        at::empty({rows, decoder_->head().weight.size(1)}, options),
        at::empty({rows, shape().vocabulary}, options)};
  }
  return found->second;
}

LayerCache DeviceModel::cache(size_t layer) const {
  return {cache_.keys.select(0, static_cast<int64_t>(layer)),
          cache_.values.select(0, static_cast<int64_t>(layer))};
}

}  // namespace qfs::nn

#include "methods/models/nn/steps/segment_model.h"

#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <string>
#include <utility>

#include "methods/models/kernels/memory_kernels.h"
#include "methods/models/nn/causal_attention.h"
#include "methods/models/nn/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"

namespace qfs::nn {

namespace {

at::Tensor of_row(const at::Tensor& states, size_t layer, int64_t row) {
  return states.select(0, static_cast<int64_t>(layer)).select(0, row);
}

// A step has many small pieces; where they are floats on a CPU they are found by address, which
// takes less than views of tensors.

bool has_addresses(const at::Tensor& states) {
  return states.is_cpu() && states.scalar_type() == at::kFloat;
}

float* address_of(const at::Tensor& states, size_t layer, int64_t row) {
  return states.mutable_data_ptr<float>() + static_cast<int64_t>(layer) * states.stride(0) +
         row * states.stride(1);
}

/// nn::merged of one token in place: `past` [heads, dim], `local` [heads * dim], shares [heads].
void merge_in_place(const at::Tensor& shares, const at::Tensor& past, const at::Tensor& local) {
  const auto* const share = shares.const_data_ptr<float>();
  const auto* const far = past.const_data_ptr<float>();
  auto* const near = local.mutable_data_ptr<float>();
  const int64_t dim = past.size(1);
  for (int64_t i = 0; i < past.numel(); ++i) near[i] += share[i / dim] * (far[i] - near[i]);
}

}  // namespace

/// The layers' operations in a step of some rows.
class SegmentModel::Step final : public LayerOperations {
 public:
  Step(SegmentModel& model, std::span<const int64_t> rows, Rotations rotations)
      : LayerOperations(by_themselves(rows, model.adapters_)),
        model_(model),
        rows_(rows),
        rotations_(std::move(rotations)) {}

  at::Tensor multiply(const Linear& linear, const at::Tensor& x) override {
    return adapted_rows(
        linear, x, rows_.size(),
        [&](size_t i) { return model_.adapters_[static_cast<size_t>(rows_[i])].get(); },
        model_.products_);
  }

  at::Tensor attend_past(size_t layer, const Linear& linear, const at::Tensor& x) override {
    const DecoderShape& shape = model_.decoder_->shape();
    const at::Tensor qkv = multiply(linear, x);
    const Projections plain = projections_of(qkv, shape, {});
    const Projections added = projections_of(qkv, shape, rotations_);
    std::vector<KeyValues> seen;
    std::vector<at::Tensor> past(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (model_.remembers(rows_[i])) {
        past[i] = model_.remember(layer, rows_[i], plain.queries.select(0, row));
      }
      model_.push(layer, rows_[i], plain.keys.select(0, row), added.keys.select(0, row),
                  plain.values.select(0, row));
      const int64_t held = std::min(model_.length(rows_[i]) + 1, model_.window());
      seen.push_back({of_row(model_.window_.keys, layer, rows_[i]).narrow(1, 0, held),
                      of_row(model_.window_.values, layer, rows_[i]).narrow(1, 0, held)});
    }
    const at::Tensor attended = model_.attention_(added.queries, seen);
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!past[i].defined()) continue;
      const at::Tensor local = attended.select(0, static_cast<int64_t>(i));
      if (has_addresses(local)) {
        merge_in_place(model_.shares_[layer], past[i], local);
        continue;
      }
      const at::Tensor heads = local.view({shape.heads, 1, shape.head_dim});
      heads.copy_(merged(model_.memory_->layers[layer], past[i].unsqueeze(1), heads));
    }
    return beside_attention(layer, attended, added.queries);
  }

 private:
  SegmentModel& model_;
  std::span<const int64_t> rows_;
  Rotations rotations_;
};

SegmentModel::SegmentModel(std::shared_ptr<const Decoder> decoder,
                           std::shared_ptr<const InfiniMemory> memory)
    : DecoderModel(std::move(decoder)),
      memory_(std::move(memory)),
      pool_(at::get_num_threads()),
      products_(pool_),
      attention_(pool_, decoder_->shape().heads, decoder_->shape().kv_heads,
                 decoder_->shape().head_dim) {
  if (const auto& rope = decoder_->shape().rope) {
    rotations_.emplace(*rope, decoder_->shape().head_dim, decoder_->device());
  }
  for (const InfiniScalars& layer : memory_->layers) shares_.push_back(layer.beta.sigmoid());
}

Status SegmentModel::begin(int64_t rows, int64_t capacity) {
  const DecoderShape& c = decoder_->shape();
  const Status fits = check_cache_size(rows, capacity, c.sequence.context);
  if (!fits.ok()) return fits;
  const auto options = at::TensorOptions(decoder_->type()).device(decoder_->device());
  const Status room = window_.make_room({c.layers, c.kv_heads, c.head_dim}, options, rows,
                                        std::min(capacity, window()));
  if (!room.ok()) return room;
  capacity_ = capacity;
  adapters_.assign(window_.lengths.size(), nullptr);
  const Status made = guarded("allocating memories", [&]() -> Status {
    if (!keys_.defined() || keys_.sizes() != window_.keys.sizes()) {
      keys_ = rotations_ ? at::empty_like(window_.keys) : window_.keys;
    }
    if (rotations_) rotations_->cover(capacity);
    const int64_t held = window_.keys.size(1);
    if (all_.defined() && all_.size(1) != held) {
      for (at::Tensor* one : {&all_, &norm_, &asked_, &asking_}) *one = at::Tensor();
    }
    if (capacity <= window() || all_.defined()) return {};
    const auto wide = options.dtype(at::toOpMathType(decoder_->type()));
    if (memory_->options.query_focused) {
      asked_ = at::empty({c.layers, held, c.heads, c.head_dim, c.head_dim}, wide);
      asking_ = at::empty({c.layers, held, c.heads, c.head_dim}, wide);
    }
    norm_ = at::empty({c.layers, held, c.kv_heads, c.head_dim}, wide);
    all_ = at::empty({c.layers, held, c.kv_heads, c.head_dim, c.head_dim}, wide);
    return {};
  });
  if (!made.ok()) window_.lengths.clear();
  return made;
}

Status SegmentModel::prefill(int64_t row, const SequenceInput& input, std::span<float> logits) {
  Status status = check_prompt(row, input.ids, shape().vocabulary, window_.lengths, capacity_);
  if (!status.ok()) return status;
  status = check_logits_room(logits, 1, shape().vocabulary);
  if (!status.ok()) return status;
  if (input.shared) return invalid_argument("rows with a memory share no prefixes");
  SequenceInput own = input;
  own.memory = memory_;
  const auto read = read_segments(*decoder_, own);
  if (!read.ok()) return read.error();
  return guarded("keeping what a prompt leaves", [&]() -> Status {
    const auto count = static_cast<int64_t>(input.ids.size());
    store(row, read->layers, count);
    copy_logits(products_(decoder_->head(), read->last), logits);
    adapters_[static_cast<size_t>(row)] = input.adapters;
    window_.lengths[static_cast<size_t>(row)] = count;
    return {};
  });
}

Status SegmentModel::decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                            std::span<float> logits) {
  Status status = check_step(rows, tokens, shape().vocabulary, window_.lengths, capacity_);
  if (!status.ok()) return status;
  status = check_logits_room(logits, rows.size(), shape().vocabulary);
  if (!status.ok()) return status;
  return guarded("decoding", [&]() -> Status {
    std::vector<int64_t> positions;
    for (const int64_t row : rows) positions.push_back(length(row));
    const at::Device device = decoder_->device();
    const at::Tensor places = at::tensor(positions).to(device);
    const at::Tensor ids =
        at::tensor(at::ArrayRef<int32_t>(tokens.data(), tokens.size())).to(device);
    Rotations rotations;
    if (rotations_) {
      const auto [cosines, sines] = rotations_->rotations();
      rotations = {cosines.index_select(0, places).to(decoder_->type()),
                   sines.index_select(0, places).to(decoder_->type())};
    }
    Step step(*this, rows, std::move(rotations));
    const at::Tensor states =
        decoder_->last_states(run_layers(*decoder_, decoder_->embed(ids, places), step));
    copy_logits(products_(decoder_->head(), states), logits);
    for (const int64_t row : rows) ++window_.lengths[static_cast<size_t>(row)];
    return {};
  });
}

Status SegmentModel::reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) {
  if (Status moved = window_.reassign(rows, sources); !moved.ok()) return moved;
  reassign_values(rows, sources, adapters_);
  return guarded("moving memories of rows", [&]() -> Status {
    const at::Device device = decoder_->device();
    const auto indices = [&](std::span<const int64_t> of) {
      return at::tensor(at::ArrayRef<int64_t>(of.data(), of.size())).to(device);
    };
    const at::Tensor to = indices(rows);
    const at::Tensor from = indices(sources);
    for (at::Tensor states : this->states()) {
      states.index_copy_(1, to, states.index_select(1, from));
    }
    return {};
  });
}

int64_t SegmentModel::state_bytes() const {
  size_t bytes = window_.keys.nbytes() + window_.values.nbytes();
  for (const at::Tensor& states : states()) bytes += states.nbytes();
  return static_cast<int64_t>(bytes);
}

std::vector<at::Tensor> SegmentModel::states() const {
  std::vector<at::Tensor> found;
  if (rotations_) found.push_back(keys_);
  for (const at::Tensor& one : {all_, norm_, asked_, asking_}) {
    if (one.defined()) found.push_back(one);
  }
  return found;
}

at::Tensor SegmentModel::remember(size_t layer, int64_t row, const at::Tensor& queries) {
  if (has_addresses(queries)) {
    return remember_by_kernel(layer, row, queries);
  }
  const int64_t slot = slot_of(length(row));
  const at::Tensor key = of_row(keys_, layer, row).narrow(1, slot, 1);
  const at::Tensor value = of_row(window_.values, layer, row).narrow(1, slot, 1);
  at::Tensor matters;
  if (asking_.defined()) {
    matters = relevance(of_row(asking_, layer, row), key, memory_->relevance_divisor);
  }
  LayerMemory before;
  if (length(row) > window()) {
    before = {of_row(all_, layer, row), of_row(norm_, layer, row), {}};
    if (asked_.defined()) before.asked = of_row(asked_, layer, row);
  }
  const LayerMemory after = remembered(memory_->options.rule, before, key, value, matters);
  of_row(all_, layer, row).copy_(after.all);
  of_row(norm_, layer, row).copy_(after.norm);
  if (asked_.defined()) of_row(asked_, layer, row).copy_(after.asked);
  return recalled(memory_->layers[layer], retrieved(after, queries.unsqueeze(1).contiguous()))
      .squeeze(1);
}

at::Tensor SegmentModel::remember_by_kernel(size_t layer, int64_t row, const at::Tensor& queries) {
  const DecoderShape& c = decoder_->shape();
  const int64_t dim = c.head_dim;
  const int64_t sharing = c.heads / c.kv_heads;
  const int64_t slot = slot_of(length(row));
  const InfiniScalars& scalars = memory_->layers[layer];
  const at::Tensor past = at::empty({c.heads, dim}, queries.options());
  const auto state = [&](const at::Tensor& states) { return address_of(states, layer, row); };
  kernels::MemoryStep all{.dim = dim,
                          .queries = sharing,
                          .delta = memory_->options.rule == MemoryRule::delta,
                          .first = length(row) == window(),
                          .key = state(keys_) + slot * dim,
                          .value = state(window_.values) + slot * dim,
                          .all = state(all_),
                          .norm = state(norm_),
                          .query = queries.const_data_ptr<float>(),
                          .past = past.mutable_data_ptr<float>()};
  if (asked_.defined()) {
    all.asked = state(asked_);
    all.asking = state(asking_);
    all.relevance_scale = static_cast<float>(1 / memory_->relevance_divisor);
    all.weight = scalars.weight.const_data_ptr<float>();
    if (scalars.bias.defined()) all.bias = *scalars.bias.const_data_ptr<float>();
  }
  scratch_.resize(static_cast<size_t>(c.kv_heads * kernels::memory_scratch(dim)));
  pool_.for_items(c.kv_heads, [&](int64_t head) {
    kernels::MemoryStep own = all;
    own.key += head * window_.capacity() * dim;
    own.value += head * window_.capacity() * dim;
    own.all += head * dim * dim;
    own.norm += head * dim;
    own.query += head * sharing * dim;
    own.past += head * sharing * dim;
    if (own.asked != nullptr) {
      own.asked += head * sharing * dim * dim;
      own.asking += head * sharing * dim;
    }
    own.scratch = scratch_.data() + head * kernels::memory_scratch(dim);
    kernels::step_memory(own);
  });
  return past;
}

void SegmentModel::push(size_t layer, int64_t row, const at::Tensor& key, const at::Tensor& rotated,
                        const at::Tensor& value) {
  const int64_t slot = slot_of(length(row));
  const auto put = [&](const at::Tensor& states, const at::Tensor& heads) {
    if (!has_addresses(states)) {
      of_row(states, layer, row).narrow(1, slot, 1).copy_(heads.unsqueeze(1));
      return;
    }
    float* to = address_of(states, layer, row) + slot * heads.size(1);
    const auto* from = heads.const_data_ptr<float>();
    for (int64_t head = 0; head < heads.size(0); ++head) {
      std::copy_n(from + head * heads.stride(0), heads.size(1), to + head * states.stride(2));
    }
  };
  put(keys_, key);
  put(window_.keys, rotated);
  put(window_.values, value);
}

void SegmentModel::store(int64_t row, const std::vector<SegmentState>& layers, int64_t positions) {
  const InfiniOptions& options = memory_->options;
  std::vector<int64_t> held;
  for (int64_t p = 0; p < std::min(positions, options.kept); ++p) held.push_back(slot_of(p));
  for (int64_t p = std::max(options.kept, positions - options.segment); p < positions; ++p) {
    held.push_back(slot_of(p));
  }
  const at::Tensor slots = at::tensor(held).to(decoder_->device());
  for (size_t i = 0; i < layers.size(); ++i) {
    const SegmentState& state = layers[i];
    const auto put = [&](const at::Tensor& states, const at::Tensor& cache) {
      of_row(cache, i, row).index_copy_(1, slots, states.transpose(0, 1));
    };
    put(state.keys, keys_);
    put(state.rotated, window_.keys);
    put(state.values, window_.values);
    if (asking_.defined()) of_row(asking_, i, row).copy_(state.asking);
    if (state.memory.empty()) continue;
    of_row(all_, i, row).copy_(state.memory.all);
    of_row(norm_, i, row).copy_(state.memory.norm);
    if (asked_.defined()) of_row(asked_, i, row).copy_(state.memory.asked);
  }
}

}  // namespace qfs::nn

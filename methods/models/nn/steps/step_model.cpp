#include "methods/models/nn/steps/step_model.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <string>
#include <utility>

#include "methods/models/nn/causal_attention.h"
#include "methods/models/nn/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

/// The layers' operations in a step of some rows.
class StepModel::Step final : public LayerOperations {
 public:
  Step(StepModel& model, std::span<const int64_t> rows, const at::Tensor& positions)
      : LayerOperations(by_themselves(rows, model.adapters_)),
        model_(model),
        rows_(rows),
        rotations_(model.rotations_at(positions)) {}

  at::Tensor multiply(const Linear& linear, const at::Tensor& x) override {
    return adapted_rows(
        linear, x, rows_.size(),
        [&](size_t i) { return model_.adapters_[static_cast<size_t>(rows_[i])].get(); },
        model_.products_);
  }

  at::Tensor attend_past(size_t layer, const Linear& qkv, const at::Tensor& x) override {
    const Projections added =
        projections_of(multiply(qkv, x), model_.decoder_->shape(), rotations_);
    std::vector<KeyValues> past;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const int64_t length = model_.cache_.lengths[static_cast<size_t>(rows_[i])];
      past.push_back(model_.held(layer, rows_[i], length + 1));
      const auto row = static_cast<int64_t>(i);
      past.back().keys.select(1, length).copy_(added.keys.select(0, row));
      past.back().values.select(1, length).copy_(added.values.select(0, row));
    }
    return beside_attention(layer, model_.attention_(added.queries, past), added.queries);
  }

  at::Tensor attend_source(size_t layer, const at::Tensor& queries) override {
    const DecoderShape& c = model_.decoder_->shape();
    if (model_.read_source_) {
      std::vector<at::Tensor> attended;
      for (size_t i = 0; i < rows_.size(); ++i) {
        const at::Tensor asking =
            queries.select(0, static_cast<int64_t>(i)).view({c.heads, c.head_dim});
        const RetrievedSource& source = *model_.retrieved_[static_cast<size_t>(rows_[i])];
        attended.push_back(source.attend(layer, asking).view({1, c.query_width()}));
      }
      return at::cat(attended);
    }
    std::vector<KeyValues> read;
    for (const int64_t row : rows_) {
      read.push_back((*model_.sources_[static_cast<size_t>(row)])[layer]);
    }
    return model_.attention_(queries.view({queries.size(0), c.heads, c.head_dim}), read);
  }

 private:
  StepModel& model_;
  std::span<const int64_t> rows_;
  Rotations rotations_;
};

/// Those of a prompt, or of its rest where `first` positions are in the cache.
class StepModel::Prompt final : public LayerOperations {
 public:
  Prompt(StepModel& model, int64_t row, int64_t first, const at::Tensor& positions)
      : LayerOperations({{0, positions.size(0), model.adapters_[static_cast<size_t>(row)].get()}}),
        model_(model),
        row_(row),
        first_(first),
        rotations_(model.rotations_at(positions)) {}

  at::Tensor multiply(const Linear& linear, const at::Tensor& x) override {
    return adapted(linear, x, model_.adapters_[static_cast<size_t>(row_)].get());
  }

  at::Tensor attend_past(size_t layer, const Linear& qkv, const at::Tensor& x) override {
    const int64_t count = x.size(0);
    const Projections added =
        projections_of(multiply(qkv, x), model_.decoder_->shape(), rotations_);
    const KeyValues all = model_.held(layer, row_, first_ + count);
    all.keys.narrow(1, first_, count).copy_(added.keys.transpose(0, 1));
    all.values.narrow(1, first_, count).copy_(added.values.transpose(0, 1));
    if (first_ == 0) return beside_attention(layer, causal_attention(added), added.queries);
    std::vector<KeyValues> seen;
    for (int64_t i = 1; i <= count; ++i) seen.push_back(model_.held(layer, row_, first_ + i));
    return beside_attention(layer, model_.attention_(added.queries, seen), added.queries);
  }

 private:
  StepModel& model_;
  int64_t row_;
  int64_t first_;
  Rotations rotations_;
};

StepModel::StepModel(std::shared_ptr<const Decoder> decoder, ReadSource read_source)
    : DecoderModel(std::move(decoder)),
      pool_(at::get_num_threads()),
      products_(pool_),
      attention_(pool_, decoder_->shape().heads, decoder_->shape().kv_heads,
                 decoder_->shape().head_dim),
      read_source_(std::move(read_source)) {
  if (const auto& rope = decoder_->shape().rope) {
    rotations_.emplace(*rope, decoder_->shape().head_dim);
  }
}

Status StepModel::begin(int64_t rows, int64_t capacity) {
  const DecoderShape& c = decoder_->shape();
  const Status fits = check_cache_size(rows, capacity, c.sequence.context);
  if (!fits.ok()) return fits;
  const Status room = cache_.make_room({c.layers, c.kv_heads, c.head_dim},
                                       at::TensorOptions(decoder_->type()), rows, capacity);
  if (!room.ok()) return room;
  adapters_.assign(cache_.lengths.size(), nullptr);
  sources_.assign(cache_.lengths.size(), nullptr);
  retrieved_.assign(cache_.lengths.size(), nullptr);
  if (!rotations_) return {};
  return guarded("making the table of rotations", [&]() -> Status {
    rotations_->cover(cache_.capacity());
    return {};
  });
}

Status StepModel::prefill(int64_t row, const SequenceInput& input, std::span<float> logits) {
  if (shape().encoder_decoder()) return prefill_source(row, input, logits);
  const std::span<const int32_t> ids = input.ids;
  const auto count = static_cast<int64_t>(ids.size());
  Status status = check_prompt(row, ids, shape().vocabulary, cache_.lengths, cache_.capacity());
  if (status.ok()) status = check_embedded(input, decoder_->hidden());
  if (status.ok()) status = check_logits_room(logits, 1, shape().vocabulary);
  if (!status.ok()) return status;
  adapters_[static_cast<size_t>(row)] = input.adapters;
  if (input.shared) {
    status = check_shared_adapters(*input.shared, input, adapters_);
    if (!status.ok()) return status;
    status = cache_.copy_shared(*input.shared, count, row);
    if (!status.ok()) return status;
  }
  int64_t& length = cache_.lengths[static_cast<size_t>(row)];
  status = guarded("reading a prompt of " + std::to_string(count) + " tokens", [&]() -> Status {
    const at::Tensor positions = at::arange(length, count);
    const std::vector<int64_t> rest(ids.begin() + length, ids.end());
    Prompt run(*this, row, length, positions);
    const at::Tensor states = decoder_->last_states(run_layers(
        *decoder_, entering(*decoder_, at::tensor(rest), positions, input.embedded), run));
    last_states_ = states.narrow(0, states.size(0) - 1, 1).clone();
    copy_logits(products_(decoder_->head(), last_states_), logits);
    return {};
  });
  length = status.ok() ? count : 0;
  return status;
}

Status StepModel::prefill_source(int64_t row, const SequenceInput& input, std::span<float> logits) {
  Status status = check_source_prompt(row, input, shape(), cache_.lengths, cache_.capacity());
  if (!status.ok()) return status;
  status = check_logits_room(logits, 1, shape().vocabulary);
  if (!status.ok()) return status;
  status = take_source(static_cast<size_t>(row), input);
  if (!status.ok()) return status;
  return guarded("reading the decoder's first tokens", [&]() -> Status {
    adapters_[static_cast<size_t>(row)] = input.adapters;
    for (const int32_t token : begun_with(input, shape())) run({&row, 1}, {&token, 1}, logits);
    return {};
  });
}

Status StepModel::take_source(size_t row, const SequenceInput& input) {
  if (read_source_) {
    auto source = read_source_(input);
    if (!source.ok()) return source.error();
    retrieved_[row] = *std::move(source);
    return {};
  }
  const Result<at::Tensor> states = decoder_->encode(input);
  if (!states.ok()) return states.error();
  return guarded("projecting a source", [&]() -> Status {
    auto source = std::make_shared<Source>();
    for (int64_t l = 0; l < decoder_->shape().layers; ++l) {
      const at::Tensor both =
          decoder_->source_keys_values(static_cast<size_t>(l), *states, input.adapters.get());
      source->push_back({both.select(0, 0).contiguous(), both.select(0, 1).contiguous()});
    }
    sources_[row] = std::move(source);
    return {};
  });
}

Status StepModel::decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                         std::span<float> logits) {
  Status status = check_step(rows, tokens, shape().vocabulary, cache_.lengths, cache_.capacity());
  if (!status.ok()) return status;
  status = check_logits_room(logits, rows.size(), shape().vocabulary);
  if (!status.ok()) return status;
  return guarded("decoding", [&]() -> Status {
    run(rows, tokens, logits);
    return {};
  });
}

Status StepModel::reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) {
  if (Status moved = cache_.reassign(rows, sources); !moved.ok()) return moved;
  reassign_values(rows, sources, adapters_);
  reassign_values(rows, sources, sources_);
  reassign_values(rows, sources, retrieved_);
  return {};
}

void StepModel::run(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                    std::span<float> logits) {
  std::vector<int64_t> lengths;
  for (const int64_t row : rows) lengths.push_back(cache_.lengths[static_cast<size_t>(row)]);
  const at::Tensor positions = at::tensor(lengths);
  const at::Tensor ids = at::tensor(at::ArrayRef<int32_t>(tokens.data(), tokens.size()));
  Step step(*this, rows, positions);
  last_states_ =
      decoder_->last_states(run_layers(*decoder_, decoder_->embed(ids, positions), step));
  copy_logits(products_(decoder_->head(), last_states_), logits);
  for (const int64_t row : rows) ++cache_.lengths[static_cast<size_t>(row)];
}

Rotations StepModel::rotations_at(const at::Tensor& positions) const {
  if (!rotations_) return {};
  const Rotations& table = rotations_->rotations();
  return {table.cosines.index_select(0, positions).to(decoder_->type()),
          table.sines.index_select(0, positions).to(decoder_->type())};
}

KeyValues StepModel::held(size_t layer, int64_t row, int64_t positions) const {
  const auto of = [&](const at::Tensor& states) {
    return states.select(0, static_cast<int64_t>(layer)).select(0, row).narrow(1, 0, positions);
  };
  return {of(cache_.keys), of(cache_.values)};
}

}  // namespace qfs::nn

#include "methods/backbones/bart/bart_model.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "methods/backbones/bart/bart_decoder.h"
#include "methods/backbones/bart/bart_source.h"
#include "methods/backbones/runtime/input_checks.h"
#include "methods/backbones/runtime/torch_runtime.h"
#include "methods/backbones/steps/cache_rows.h"
#include "methods/backbones/steps/row_attention.h"
#include "methods/backbones/steps/row_products.h"

namespace qfs::backbones {

namespace {

/// What the decoder's layers attend to: keys and values of an encoded input.
struct Source {
  std::vector<KeyValues> layers;
};

class BartModel final : public SequenceModel {
 public:
  explicit BartModel(std::shared_ptr<const BartWeights> weights)
      : weights_(std::move(weights)),
        shape_(shape_of(*weights_)),
        pool_(at::get_num_threads()),
        products_(pool_),
        attention_(pool_, weights_->config.decoder_heads, weights_->config.decoder_head_dim()) {}

  const SequenceShape& shape() const override { return shape_; }

  Status begin(int64_t rows, int64_t capacity) override {
    if (rows < 1 || capacity < 1 || capacity > shape_.context) {
      return invalid_argument("a cache of " + std::to_string(rows) + " rows of " +
                              std::to_string(capacity) + " tokens; the decoder's window has " +
                              std::to_string(shape_.context));
    }
    return guarded("allocating the key-value cache", [&]() -> Status {
      const BartConfig& c = config();
      if (!keys_.defined() || keys_.size(1) < rows || keys_.size(3) < capacity) {
        keys_.reset();
        values_.reset();
        keys_ = at::empty({c.decoder_layers, rows, c.decoder_heads, capacity, c.decoder_head_dim()},
                          weights_->positions.options());
        values_ = at::empty_like(keys_);
      }
      lengths_.assign(static_cast<size_t>(keys_.size(1)), 0);
      sources_.assign(lengths_.size(), nullptr);
      return {};
    });
  }

  Status prefill(int64_t row, const SequenceInput& input, std::span<float> logits) override {
    Status status = check_prefill(row, input, shape_, lengths_, capacity());
    if (!status.ok()) return status;
    status = check_logits_room(logits, 1, shape_.vocabulary);
    if (!status.ok()) return status;
    const auto states = encode_source(*weights_, input);
    if (!states.ok()) return states.error();
    return guarded("reading the decoder's first tokens", [&]() -> Status {
      sources_[static_cast<size_t>(row)] = project(*states);
      for (const int32_t token : begun_with(input, shape_)) run({&row, 1}, {&token, 1}, logits);
      return {};
    });
  }

  Status decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                std::span<float> logits) override {
    Status status = check_step(rows, tokens, shape_.vocabulary, lengths_, capacity());
    if (!status.ok()) return status;
    status = check_logits_room(logits, rows.size(), shape_.vocabulary);
    if (!status.ok()) return status;
    return guarded("decoding", [&]() -> Status {
      run(rows, tokens, logits);
      return {};
    });
  }

  Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) override {
    if (Status moved = reassign_rows(rows, sources, keys_, values_, lengths_); !moved.ok()) {
      return moved;
    }
    reassign_values(rows, sources, sources_);
    return {};
  }

 private:
  /// The layers' operations in a step of some rows.
  class Step final : public DecoderOperations {
   public:
    Step(BartModel& model, std::span<const int64_t> rows) : model_(model), rows_(rows) {}

    at::Tensor multiply(const Linear& linear, const at::Tensor& x) override {
      return model_.products_(linear, x);
    }

    /// Each row over all that it holds, with its new key and value.
    at::Tensor attend_past(const at::Tensor& qkv, size_t layer) override {
      const BartConfig& c = model_.config();
      const at::Tensor parts = qkv.view({qkv.size(0), 3, c.decoder_heads, c.decoder_head_dim()});
      std::vector<KeyValues> held;
      for (size_t i = 0; i < rows_.size(); ++i) {
        const int64_t length = model_.lengths_[static_cast<size_t>(rows_[i])];
        const auto with_new = [&](const at::Tensor& cache, int64_t part) {
          const at::Tensor row = cache.select(0, static_cast<int64_t>(layer)).select(0, rows_[i]);
          row.select(1, length).copy_(parts.select(0, static_cast<int64_t>(i)).select(0, part));
          return row.narrow(1, 0, length + 1);
        };
        held.push_back({with_new(model_.keys_, 1), with_new(model_.values_, 2)});
      }
      return model_.attention_(parts.select(1, 0), held);
    }

    at::Tensor attend_source(const at::Tensor& queries, size_t layer) override {
      const BartConfig& c = model_.config();
      std::vector<KeyValues> read;
      for (const int64_t row : rows_) {
        read.push_back(model_.sources_[static_cast<size_t>(row)]->layers[layer]);
      }
      const at::Tensor heads =
          queries.view({queries.size(0), c.decoder_heads, c.decoder_head_dim()});
      return model_.attention_(heads, read);
    }

   private:
    BartModel& model_;
    std::span<const int64_t> rows_;
  };

  const BartConfig& config() const { return weights_->config; }
  int64_t capacity() const { return keys_.defined() ? keys_.size(3) : 0; }

  std::shared_ptr<const Source> project(const at::Tensor& states) const {
    auto source = std::make_shared<Source>();
    for (const DecoderLayer& layer : weights_->layers) {
      const at::Tensor both = cross_keys_values(*weights_, layer, states);
      source->layers.push_back({both.select(0, 0).contiguous(), both.select(0, 1).contiguous()});
    }
    return source;
  }

  /// One step for checked rows and tokens.
  void run(std::span<const int64_t> rows, std::span<const int32_t> tokens,
           std::span<float> logits) {
    std::vector<int64_t> positions;
    for (const int64_t row : rows) positions.push_back(lengths_[static_cast<size_t>(row)]);
    Step step(*this, rows);
    const at::Tensor ids = at::tensor(at::ArrayRef<int32_t>(tokens.data(), tokens.size()));
    const at::Tensor scores =
        decoder_logits(*weights_, ids, at::tensor(positions), step).to(at::kFloat).contiguous();
    std::copy_n(scores.const_data_ptr<float>(), logits.size(), logits.data());
    for (const int64_t row : rows) ++lengths_[static_cast<size_t>(row)];
  }

  std::shared_ptr<const BartWeights> weights_;
  SequenceShape shape_;
  kernels::ThreadPool pool_;
  RowProducts products_;
  RowAttention attention_;
  at::Tensor keys_;  ///< of self-attention: [layers, rows, heads, capacity, head_dim]
  at::Tensor values_;
  std::vector<int64_t> lengths_;
  std::vector<std::shared_ptr<const Source>> sources_;  ///< of each row
};

}  // namespace

std::unique_ptr<SequenceModel> make_bart_model(std::shared_ptr<const BartWeights> weights) {
  return std::make_unique<BartModel>(std::move(weights));
}

}  // namespace qfs::backbones

#include "methods/backbones/bart/bart_model.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "methods/backbones/bart/bart_decoder.h"
#include "methods/backbones/cache_rows.h"
#include "methods/backbones/led/merged_attention.h"
#include "methods/backbones/led/windowed_attention.h"
#include "methods/backbones/row_attention.h"
#include "methods/backbones/row_products.h"
#include "methods/backbones/torch_runtime.h"

namespace qfs::backbones {

namespace {

/// What the decoder's layers attend to: keys and values of an encoded input.
struct Source {
  std::vector<KeyValues> layers;
};

class BartModel final : public SequenceModel, private DecoderOperations {
 public:
  BartModel(std::shared_ptr<const BartWeights> weights, WindowKernel windows)
      : weights_(std::move(weights)),
        windows_(windows),
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
    const auto& begun = input.decoder_ids.empty() ? shape_.decoder_start : input.decoder_ids;
    if (row < 0 || row >= static_cast<int64_t>(lengths_.size())) return outside(row);
    if (lengths_[static_cast<size_t>(row)] != 0) {
      return invalid_argument("row " + std::to_string(row) + " is in use");
    }
    if (input.shared) return invalid_argument("an encoder-decoder shares no prefixes");
    const auto states = encode_source(*weights_, input, windows_);
    if (!states.ok()) return states.error();
    const Status projected = guarded("projecting the encoder's states", [&]() -> Status {
      sources_[static_cast<size_t>(row)] = project(*states);
      return {};
    });
    if (!projected.ok()) return projected;
    for (const int32_t token : begun) {
      if (Status read = step({&row, 1}, {&token, 1}, logits); !read.ok()) return read;
    }
    return {};
  }

  Status decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                std::span<float> logits) override {
    for (const int64_t row : rows) {
      if (row < 0 || row >= static_cast<int64_t>(lengths_.size())) return outside(row);
      if (lengths_[static_cast<size_t>(row)] == 0) {
        return invalid_argument("row " + std::to_string(row) + " holds 0 of " +
                                std::to_string(keys_.size(3)) + " tokens");
      }
    }
    return step(rows, tokens, logits);
  }

  Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) override {
    if (Status moved = reassign_rows(rows, sources, keys_, values_, lengths_); !moved.ok()) {
      return moved;
    }
    const std::vector<std::shared_ptr<const Source>> before = sources_;
    for (size_t i = 0; i < rows.size(); ++i) {
      sources_[static_cast<size_t>(rows[i])] = before[static_cast<size_t>(sources[i])];
    }
    return {};
  }

 private:
  const BartConfig& config() const { return weights_->config; }

  static Error outside(int64_t row) {
    return internal_error("row " + std::to_string(row) + " is outside the cache");
  }

  std::shared_ptr<const Source> project(const at::Tensor& states) const {
    auto source = std::make_shared<Source>();
    for (const DecoderLayer& layer : weights_->layers) {
      const at::Tensor both = cross_keys_values(*weights_, layer, states);
      source->layers.push_back({both.select(0, 0).contiguous(), both.select(0, 1).contiguous()});
    }
    return source;
  }

  Status check(std::span<const int64_t> rows, std::span<const int32_t> tokens,
               std::span<float> logits) const {
    if (rows.empty() || rows.size() != tokens.size() ||
        logits.size() != rows.size() * static_cast<size_t>(shape_.vocabulary)) {
      return internal_error("a decode step got " + std::to_string(tokens.size()) + " tokens for " +
                            std::to_string(rows.size()) + " rows");
    }
    for (const int32_t token : tokens) {
      if (token < 0 || token >= shape_.vocabulary) {
        return invalid_argument("token id " + std::to_string(token) + " is outside 0.." +
                                std::to_string(shape_.vocabulary - 1));
      }
    }
    for (const int64_t row : rows) {
      const int64_t length = lengths_[static_cast<size_t>(row)];
      if (length >= keys_.size(3)) {
        return invalid_argument("row " + std::to_string(row) + " holds " + std::to_string(length) +
                                " of " + std::to_string(keys_.size(3)) + " tokens");
      }
    }
    return {};
  }

  Status step(std::span<const int64_t> rows, std::span<const int32_t> tokens,
              std::span<float> logits) {
    if (Status status = check(rows, tokens, logits); !status.ok()) return status;
    return guarded("decoding", [&]() -> Status {
      rows_ = rows;
      std::vector<int64_t> positions;
      for (const int64_t row : rows) positions.push_back(lengths_[static_cast<size_t>(row)]);
      const at::Tensor scores =
          decoder_logits(*weights_, tokens, positions, *this).to(at::kCPU, at::kFloat).contiguous();
      std::copy_n(scores.const_data_ptr<float>(), logits.size(), logits.data());
      for (const int64_t row : rows) ++lengths_[static_cast<size_t>(row)];
      return {};
    });
  }

  at::Tensor multiply(const Linear& linear, const at::Tensor& x) override {
    return products_(linear, x);
  }

  /// Each row over all that it holds, with its new key and value.
  at::Tensor attend_past(const at::Tensor& qkv, size_t layer) override {
    const BartConfig& c = config();
    const at::Tensor parts = qkv.view({qkv.size(0), 3, c.decoder_heads, c.decoder_head_dim()});
    std::vector<KeyValues> held;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const int64_t length = lengths_[static_cast<size_t>(rows_[i])];
      const auto with_new = [&](const at::Tensor& cache, int64_t part) {
        const at::Tensor row = cache.select(0, static_cast<int64_t>(layer)).select(0, rows_[i]);
        row.select(1, length).copy_(parts.select(0, static_cast<int64_t>(i)).select(0, part));
        return row.narrow(1, 0, length + 1);
      };
      held.push_back({with_new(keys_, 1), with_new(values_, 2)});
    }
    return attention_(parts.select(1, 0), held);
  }

  at::Tensor attend_source(const at::Tensor& queries, size_t layer) override {
    const BartConfig& c = config();
    std::vector<KeyValues> read;
    for (const int64_t row : rows_) {
      read.push_back(sources_[static_cast<size_t>(row)]->layers[layer]);
    }
    return attention_(queries.view({queries.size(0), c.decoder_heads, c.decoder_head_dim()}), read);
  }

  std::shared_ptr<const BartWeights> weights_;
  WindowKernel windows_;
  SequenceShape shape_;
  kernels::ThreadPool pool_;
  RowProducts products_;
  RowAttention attention_;
  at::Tensor keys_;  ///< of self-attention: [layers, rows, heads, capacity, head_dim]
  at::Tensor values_;
  std::vector<int64_t> lengths_;
  std::vector<std::shared_ptr<const Source>> sources_;  ///< of each row
  std::span<const int64_t> rows_;                       ///< of the present step
};

Status check_global(const SequenceInput& input, const SequenceShape& shape) {
  const auto& global = input.global_positions;
  if (global.empty()) return {};
  if (!shape.global_attention) {
    return invalid_argument("global positions for an encoder without windowed attention");
  }
  const bool increasing =
      std::ranges::adjacent_find(global, std::ranges::greater_equal{}) == global.end();
  if (increasing && global.front() >= 0 && global.back() < static_cast<int64_t>(input.ids.size())) {
    return {};
  }
  return invalid_argument("global positions must be increasing positions of the input's " +
                          std::to_string(input.ids.size()) + " tokens");
}

}  // namespace

SequenceShape shape_of(const BartWeights& weights) {
  const BartConfig& config = weights.config;
  return {.vocabulary = weights.head.weight.size(0),
          .context = config.decoder_positions(),
          .source_context = config.encoder.max_tokens(),
          .decoder_start = config.decoder_start,
          .global_attention = !config.windows.empty()};
}

Result<at::Tensor> encode_source(const BartWeights& weights, const SequenceInput& input,
                                 WindowKernel windows) {
  const SequenceShape shape = shape_of(weights);
  if (Status status = check_global(input, shape); !status.ok()) return status.error();
  const TransformerEncoder encoder(weights.encoder);
  const EncoderInput text = {input.ids, {}};
  if (!shape.global_attention) return encoder.hidden_states({&text, 1}, encoder.config().layers);
  const at::Device device = weights.encoder->words.device();
  return guarded("encoding a text", [&] {
    if (windows == WindowKernel::flash) {
      const MergedAttention attention(weights.config.windows, weights.global,
                                      input.global_positions, device, flash_window_pass);
      return encoder.hidden_states(text, attention);
    }
    const WindowedAttention attention(weights.config.windows, weights.global,
                                      input.global_positions,
                                      static_cast<int64_t>(input.ids.size()), device);
    return encoder.hidden_states(text, attention);
  });
}

std::unique_ptr<SequenceModel> make_bart_model(std::shared_ptr<const BartWeights> weights,
                                               WindowKernel windows) {
  return std::make_unique<BartModel>(std::move(weights), windows);
}

}  // namespace qfs::backbones

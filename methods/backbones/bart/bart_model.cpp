#include "methods/backbones/bart/bart_model.h"

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "methods/backbones/cache_rows.h"
#include "methods/backbones/led/windowed_attention.h"
#include "methods/backbones/row_products.h"
#include "methods/backbones/torch_runtime.h"

namespace qfs::backbones {

namespace {

/// What the decoder attends to: keys and values of an encoded input, by layer [1, heads, tokens,
/// head_dim].
struct Source {
  std::vector<at::Tensor> keys;
  std::vector<at::Tensor> values;
};

class BartModel final : public SequenceModel {
 public:
  explicit BartModel(std::shared_ptr<const BartWeights> weights)
      : weights_(std::move(weights)),
        shape_(shape_of(*weights_)),
        products_(at::get_num_threads()) {}

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
    const auto states = encode_source(*weights_, input);
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
    const BartConfig& c = config();
    auto source = std::make_shared<Source>();
    for (const DecoderLayer& layer : weights_->layers) {
      const at::Tensor key_value =
          apply(layer.cross_key_value, states)
              .view({states.size(1), 2, c.decoder_heads, c.decoder_head_dim()})
              .permute({1, 2, 0, 3});
      source->keys.push_back(key_value.select(0, 0).unsqueeze(0).contiguous());
      source->values.push_back(key_value.select(0, 1).unsqueeze(0).contiguous());
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
      at::Tensor states = embed(rows, tokens);
      for (size_t l = 0; l < weights_->layers.size(); ++l) {
        const DecoderLayer& layer = weights_->layers[l];
        states = add(layer.self_norm, states, [&](const at::Tensor& read) {
          const at::Tensor seen = attend_past(products_(layer.self_qkv, read), l, rows);
          return products_(layer.self_output, seen);
        });
        states = add(layer.cross_norm, states, [&](const at::Tensor& read) {
          const at::Tensor seen = attend_source(products_(layer.cross_query, read), l, rows);
          return products_(layer.cross_output, seen);
        });
        states = add(layer.output_norm, states, [&](const at::Tensor& read) {
          const at::Tensor inner = apply(config().encoder.activation, products_(layer.up, read));
          return products_(layer.down, inner);
        });
      }
      if (config().encoder.pre_norm) states = normed(weights_->last_norm, states);
      const at::Tensor scores =
          products_(weights_->head, states).to(at::kCPU, at::kFloat).contiguous();
      std::copy_n(scores.const_data_ptr<float>(), logits.size(), logits.data());
      for (const int64_t row : rows) ++lengths_[static_cast<size_t>(row)];
      return {};
    });
  }

  at::Tensor normed(const LayerNorm& norm, const at::Tensor& states) const {
    return apply(norm, states, config().encoder.norm_eps);
  }

  /// Residual states after a block, with its norm before it or after the sum.
  template <class Block>
  at::Tensor add(const LayerNorm& norm, const at::Tensor& states, Block&& block) const {
    if (config().encoder.pre_norm) return states + block(normed(norm, states));
    return normed(norm, states + block(states));
  }

  at::Tensor embed(std::span<const int64_t> rows, std::span<const int32_t> tokens) const {
    std::vector<int64_t> ids(tokens.begin(), tokens.end());
    std::vector<int64_t> positions;
    for (const int64_t row : rows) {
      positions.push_back(lengths_[static_cast<size_t>(row)] + config().decoder_first_position);
    }
    const at::Device device = weights_->positions.device();
    at::Tensor words = weights_->words.index_select(0, at::tensor(ids).to(device));
    if (config().encoder.embedding_scale != 1) words = words * config().encoder.embedding_scale;
    const at::Tensor sum =
        words + weights_->positions.index_select(0, at::tensor(positions).to(device));
    return config().encoder.embedding_norm ? normed(weights_->norm, sum) : sum;
  }

  /// Self-attention of each row over all that it holds, with its new key and value: [rows, hidden].
  at::Tensor attend_past(const at::Tensor& qkv, size_t layer, std::span<const int64_t> rows) {
    const BartConfig& c = config();
    const at::Tensor parts =
        qkv.view({static_cast<int64_t>(rows.size()), 3, c.decoder_heads, 1, c.decoder_head_dim()});
    std::vector<at::Tensor> attended;
    for (size_t i = 0; i < rows.size(); ++i) {
      const at::Tensor part = parts.select(0, static_cast<int64_t>(i));
      const int64_t length = lengths_[static_cast<size_t>(rows[i])];
      const auto past = [&](const at::Tensor& cache, const at::Tensor& now) {
        const at::Tensor row = cache.select(0, static_cast<int64_t>(layer)).select(0, rows[i]);
        row.narrow(1, length, 1).copy_(now);
        return row.narrow(1, 0, length + 1).unsqueeze(0);
      };
      const at::Tensor keys = past(keys_, part.select(0, 1));
      const at::Tensor values = past(values_, part.select(0, 2));
      attended.push_back(
          at::scaled_dot_product_attention(part.select(0, 0).unsqueeze(0), keys, values));
    }
    return at::cat(attended).reshape({static_cast<int64_t>(rows.size()), c.encoder.hidden});
  }

  /// Cross-attention; neighbouring rows of one source ask together: [rows, hidden].
  at::Tensor attend_source(const at::Tensor& queries, size_t layer,
                           std::span<const int64_t> rows) const {
    const BartConfig& c = config();
    const auto source_of = [&](size_t i) { return sources_[static_cast<size_t>(rows[i])].get(); };
    std::vector<at::Tensor> attended;
    for (size_t begin = 0; begin < rows.size();) {
      size_t end = begin + 1;
      while (end < rows.size() && source_of(end) == source_of(begin)) ++end;
      const auto count = static_cast<int64_t>(end - begin);
      const at::Tensor asking = queries.narrow(0, static_cast<int64_t>(begin), count)
                                    .view({1, count, c.decoder_heads, c.decoder_head_dim()})
                                    .transpose(1, 2);
      const Source& source = *source_of(begin);
      attended.push_back(
          at::scaled_dot_product_attention(asking, source.keys[layer], source.values[layer])
              .transpose(1, 2)
              .reshape({count, c.encoder.hidden}));
      begin = end;
    }
    return at::cat(attended);
  }

  std::shared_ptr<const BartWeights> weights_;
  SequenceShape shape_;
  RowProducts products_;
  at::Tensor keys_;  ///< of self-attention: [layers, rows, heads, capacity, head_dim]
  at::Tensor values_;
  std::vector<int64_t> lengths_;
  std::vector<std::shared_ptr<const Source>> sources_;  ///< of each row
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

Result<at::Tensor> encode_source(const BartWeights& weights, const SequenceInput& input) {
  const SequenceShape shape = shape_of(weights);
  if (Status status = check_global(input, shape); !status.ok()) return status.error();
  const TransformerEncoder encoder(weights.encoder);
  const EncoderInput text = {input.ids, {}};
  if (!shape.global_attention) return encoder.hidden_states({&text, 1}, encoder.config().layers);
  return guarded("encoding a text", [&] {
    const WindowedAttention attention(
        weights.config.windows, weights.global, input.global_positions,
        static_cast<int64_t>(input.ids.size()), weights.encoder->words.device());
    return encoder.hidden_states(text, attention);
  });
}

std::unique_ptr<SequenceModel> make_bart_model(std::shared_ptr<const BartWeights> weights) {
  return std::make_unique<BartModel>(std::move(weights));
}

}  // namespace qfs::backbones

// Prefill of one prompt: matrix products by LibTorch's BLAS, attention by its flash kernel,
// everything between in fused passes over the rows.
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <string>

#include "methods/backbones/llama/llama.h"
#include "methods/backbones/llama/llama_scratch.h"
#include "methods/backbones/torch_runtime.h"
#include "methods/kernels/cpu_kernels.h"

namespace qfs::backbones {

namespace {

// Rows of one task in the passes between matrix products.
constexpr int64_t kRowGrain = 8;
// Weight rows of one task of expansion.
constexpr int64_t kExpandGrain = 32;
// Rows of the feed-forward layer computed at once: its activations then stay in the cache.
constexpr int64_t kMlpRows = 256;

/// The buffers of one prefill over `tokens` rows.
struct Buffers {
  Buffers(const LlamaConfig& c, int64_t tokens)
      : hidden(at::empty({tokens, c.hidden})),
        normed(at::empty({tokens, c.hidden})),
        qkv(at::empty({tokens, c.query_width() + 2 * c.kv_width()})),
        queries(at::empty({1, c.heads, tokens, c.head_dim})),
        gate_up(at::empty({std::min(tokens, kMlpRows), 2 * c.intermediate})),
        activation(at::empty({std::min(tokens, kMlpRows), c.intermediate})),
        weight(at::empty(
            {std::max(2 * c.intermediate, c.query_width() + 2 * c.kv_width()) * c.hidden})),
        second_weight(at::empty({std::max(c.intermediate, c.query_width()) * c.hidden})) {}

  at::Tensor hidden;
  at::Tensor normed;
  at::Tensor qkv;
  at::Tensor queries;
  at::Tensor gate_up;
  at::Tensor activation;
  at::Tensor weight;         ///< one expanded matrix
  at::Tensor second_weight;  ///< another, needed at the same time
};

/// A matrix as a float32 tensor: itself, or expanded into `scratch`.
at::Tensor expanded(kernels::ThreadPool& pool, const Matrix& matrix, const at::Tensor& scratch) {
  if (matrix.type == checkpoints::TensorType::f32) {
    return at::from_blob(matrix.data.get(), {matrix.rows, matrix.columns});
  }
  float* out = scratch.mutable_data_ptr<float>();
  const auto expand = kernels::cpu_kernels().expand;
  pool.for_ranges(matrix.rows, kExpandGrain, [&](int64_t begin, int64_t end) {
    expand(matrix.type, matrix.row(begin), (end - begin) * matrix.columns,
           out + begin * matrix.columns);
  });
  return scratch.narrow(0, 0, matrix.rows * matrix.columns).view({matrix.rows, matrix.columns});
}

/// Adds a bias, if there is one, to every row.
void add_bias(const std::vector<float>& bias, at::Tensor rows) {
  if (bias.empty()) return;
  rows.add_(at::from_blob(const_cast<float*>(bias.data()), {static_cast<int64_t>(bias.size())}));
}

void normalize(kernels::ThreadPool& pool, const at::Tensor& in, const std::vector<float>& weight,
               float eps, at::Tensor& out) {
  const int64_t width = in.size(1);
  const float* source = in.const_data_ptr<float>();
  const float* scale = weight.data();
  float* target = out.mutable_data_ptr<float>();
  const auto run = kernels::cpu_kernels().rms_norm;
  pool.for_ranges(in.size(0), kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t)
      run(source + t * width, scale, width, eps, target + t * width);
  });
}

/// Rotates queries into [heads, tokens, dim] and keys into the cache; copies values there.
void rotate_and_store(kernels::ThreadPool& pool, const LlamaWeights& weights,
                      const Buffers& buffers, at::Tensor keys, at::Tensor values,
                      int64_t capacity) {
  const LlamaConfig& c = weights.config;
  const int64_t dim = c.head_dim;
  const int64_t tokens = buffers.qkv.size(0);
  const int64_t width = buffers.qkv.size(1);
  const float* qkv = buffers.qkv.const_data_ptr<float>();
  const float* cosines = weights.cosines.const_data_ptr<float>();
  const float* sines = weights.sines.const_data_ptr<float>();
  float* queries = buffers.queries.mutable_data_ptr<float>();
  float* key_cache = keys.mutable_data_ptr<float>();
  float* value_cache = values.mutable_data_ptr<float>();
  const auto rotate = kernels::cpu_kernels().rotate;
  pool.for_ranges(tokens, kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const float* row = qkv + t * width;
      const float* cosine = cosines + t * (dim / 2);
      const float* sine = sines + t * (dim / 2);
      for (int64_t h = 0; h < c.heads; ++h) {
        rotate(row + h * dim, cosine, sine, dim, queries + (h * tokens + t) * dim);
      }
      for (int64_t h = 0; h < c.kv_heads; ++h) {
        const float* key = row + c.query_width() + h * dim;
        const float* value = key + c.kv_width();
        rotate(key, cosine, sine, dim, key_cache + (h * capacity + t) * dim);
        std::copy(value, value + dim, value_cache + (h * capacity + t) * dim);
      }
    }
  });
}

void feed_forward(kernels::ThreadPool& pool, const LlamaConfig& c, const LlamaLayer& layer,
                  Buffers& buffers) {
  const int64_t tokens = buffers.hidden.size(0);
  const auto run = kernels::cpu_kernels().silu_multiply;
  normalize(pool, buffers.hidden, layer.mlp_norm, c.rms_eps, buffers.normed);
  const at::Tensor gate_up_weight = expanded(pool, layer.gate_up, buffers.weight).t();
  const at::Tensor down_weight = expanded(pool, layer.down, buffers.second_weight).t();
  for (int64_t first = 0; first < tokens; first += kMlpRows) {
    const int64_t rows = std::min(kMlpRows, tokens - first);
    at::Tensor gate_up = buffers.gate_up.narrow(0, 0, rows);
    at::Tensor activation = buffers.activation.narrow(0, 0, rows);
    at::mm_out(gate_up, buffers.normed.narrow(0, first, rows), gate_up_weight);
    add_bias(layer.gate_up_bias, gate_up);
    const float* gates = gate_up.const_data_ptr<float>();
    float* out = activation.mutable_data_ptr<float>();
    pool.for_ranges(rows, kRowGrain, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const float* gate = gates + t * 2 * c.intermediate;
        run(gate, gate + c.intermediate, c.intermediate, out + t * c.intermediate);
      }
    });
    at::Tensor hidden = buffers.hidden.narrow(0, first, rows);
    at::addmm_out(hidden, hidden, activation, down_weight);
    add_bias(layer.down_bias, hidden);
  }
}

}  // namespace

void Llama::finish_prefill(KvCache& cache, int64_t row, const float* queries, const float* hidden,
                           int64_t count) {
  const LlamaConfig& c = config();
  for (int64_t h = 0; h < c.heads; ++h) {
    const float* last = queries + ((h + 1) * count - 1) * c.head_dim;
    std::copy(last, last + c.head_dim, scratch_->queries.data() + h * c.head_dim);
  }
  std::copy(hidden, hidden + c.hidden, scratch_->hidden.data());
  cache.lengths[static_cast<size_t>(row)] = count - 1;
  attend_step(cache, c.layers - 1, {&row, 1});
  cache.lengths[static_cast<size_t>(row)] = 0;
  finish_step(weights_->layers.back(), 1);
}

Status Llama::prefill(KvCache& cache, int64_t row, std::span<const int32_t> tokens,
                      std::span<float> logits) {
  const LlamaConfig& c = config();
  const auto count = static_cast<int64_t>(tokens.size());
  if (row < 0 || row >= static_cast<int64_t>(cache.lengths.size()) ||
      static_cast<int64_t>(logits.size()) != c.vocabulary) {
    return internal_error("prefill of row " + std::to_string(row) + " does not match its cache");
  }
  if (count == 0 || count > cache.capacity || cache.lengths[static_cast<size_t>(row)] != 0) {
    return invalid_argument("a prompt of " + std::to_string(count) + " tokens for a row of " +
                            std::to_string(cache.capacity) + " that holds " +
                            std::to_string(cache.lengths[static_cast<size_t>(row)]));
  }
  if (Status status = check_tokens(tokens); !status.ok()) return status;
  return guarded("reading a prompt of " + std::to_string(count) + " tokens", [&]() -> Status {
    reserve_step(1, cache.capacity);
    kernels::ThreadPool& pool = scratch_->pool;
    Buffers buffers(c, count);
    float* hidden = buffers.hidden.mutable_data_ptr<float>();
    embed(tokens, hidden);
    for (int64_t l = 0; l < c.layers; ++l) {
      const LlamaLayer& layer = weights_->layers[static_cast<size_t>(l)];
      const at::Tensor keys = cache.keys.select(0, l).select(0, row);
      const at::Tensor values = cache.values.select(0, l).select(0, row);
      normalize(pool, buffers.hidden, layer.attention_norm, c.rms_eps, buffers.normed);
      at::mm_out(buffers.qkv, buffers.normed, expanded(pool, layer.qkv, buffers.weight).t());
      add_bias(layer.qkv_bias, buffers.qkv);
      rotate_and_store(pool, *weights_, buffers, keys, values, cache.capacity);
      if (l + 1 == c.layers) {
        // Only the last position is read from here on: as one step of decoding.
        finish_prefill(cache, row, buffers.queries.const_data_ptr<float>(),
                       hidden + (count - 1) * c.hidden, count);
        break;
      }
      const at::Tensor attended = std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(
          buffers.queries, keys.narrow(1, 0, count).unsqueeze(0),
          values.narrow(1, 0, count).unsqueeze(0), 0.0, true));
      const at::Tensor merged = attended.transpose(1, 2).reshape({count, c.query_width()});
      at::addmm_out(buffers.hidden, buffers.hidden, merged,
                    expanded(pool, layer.attention_output, buffers.weight).t());
      add_bias(layer.output_bias, buffers.hidden);
      feed_forward(pool, c, layer, buffers);
    }
    head(scratch_->hidden.data(), 1, logits.data());
    cache.lengths[static_cast<size_t>(row)] = count;
    return {};
  });
}

}  // namespace qfs::backbones

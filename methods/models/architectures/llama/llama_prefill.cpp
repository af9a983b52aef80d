// Prefill of one prompt: attention by LibTorch's flash kernel, everything else in own kernels.
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <string>

#include "methods/models/architectures/llama/llama.h"
#include "methods/models/architectures/llama/llama_scratch.h"
#include "methods/models/architectures/llama/prefill_gemm.h"
#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/nn/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::architectures {

namespace {

// Rows of one task in the passes between matrix products.
constexpr int64_t kRowGrain = 8;
// Rows of the feed-forward layer computed at once: its activations then stay in the cache.
constexpr int64_t kMlpRows = 256;

}  // namespace

/// The buffers of one prefill over `tokens` rows.
struct PromptBuffers {
  PromptBuffers(const LlamaConfig& c, int64_t tokens, bool rest)
      : hidden(at::empty({tokens, c.hidden})),
        normed(at::empty({tokens, c.hidden})),
        qkv(at::empty({tokens, c.query_width() + 2 * c.kv_width()})),
        queries(at::empty({1, c.heads, tokens, c.head_dim})),
        query_step(rest ? c.query_width() : c.head_dim),
        head_step(rest ? c.head_dim : tokens * c.head_dim),
        gate_up(at::empty({std::min(tokens, kMlpRows), 2 * c.intermediate})),
        activation(at::empty({std::min(tokens, kMlpRows), c.intermediate})) {}

  at::Tensor hidden;
  at::Tensor normed;
  at::Tensor qkv;
  /// [1, heads, tokens, head_dim] of a whole prompt; [tokens, heads, head_dim] of the rest of one.
  at::Tensor queries;
  int64_t query_step;  ///< floats from a token to the next
  int64_t head_step;
  at::Tensor gate_up;
  at::Tensor activation;
};

namespace {

/// Adds a bias, if there is one, to every row.
void add_bias(const std::vector<float>& bias, at::Tensor rows) {
  if (bias.empty()) return;
  rows.add_(at::from_blob(const_cast<float*>(bias.data()), {static_cast<int64_t>(bias.size())}));
}

/// Adds what adapters (or null) add to a product: x [tokens, inputs], y [tokens, outputs].
void add_adapters(const nn::Adapters* adapters, const nn::Matrix& weight, const at::Tensor& x,
                  const at::Tensor& y) {
  if (adapters == nullptr) return;
  for (const nn::Adapters::Rows& to : adapters->of(weight.data.get())) {
    const at::Tensor inner = at::mm(x, to.added.down.t());
    y.narrow(1, to.first, to.count).add_(at::mm(inner, to.added.up.t()), to.added.scale);
  }
}

/// Adds what adapters (or null) of a layer add to its attention's output.
void add_prompts(const nn::Adapters* adapters, int64_t layer, const PromptBuffers& buffers,
                 const at::Tensor& merged) {
  if (adapters == nullptr) return;
  const auto& prompt = adapters->layer(static_cast<size_t>(layer)).prompt;
  if (!prompt) return;
  const at::Tensor first = buffers.queries.select(0, 0);
  const bool heads_first = buffers.query_step < buffers.head_step;
  const int64_t heads = buffers.queries.size(1);
  const int64_t dim = buffers.queries.size(3);
  const at::Tensor queries =
      heads_first ? first.transpose(0, 1) : first.view({merged.size(0), heads, dim});
  merged.add_(nn::prompt_attention(queries, *prompt));
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

/// Rotates queries into their buffer and keys into the cache, from position `first` on; copies
/// values there. `keys` and `values`: [kv_heads, capacity, head_dim].
void rotate_and_store(kernels::ThreadPool& pool, const LlamaConfig& c,
                      const nn::Rotations& rotations, const PromptBuffers& buffers,
                      const at::Tensor& keys, const at::Tensor& values, int64_t first) {
  const int64_t dim = c.head_dim;
  const int64_t tokens = buffers.qkv.size(0);
  const int64_t width = buffers.qkv.size(1);
  const int64_t capacity = keys.size(1);
  const float* qkv = buffers.qkv.const_data_ptr<float>();
  const float* cosines = rotations.cosines.const_data_ptr<float>() + first * (dim / 2);
  const float* sines = rotations.sines.const_data_ptr<float>() + first * (dim / 2);
  float* queries = buffers.queries.mutable_data_ptr<float>();
  float* key_cache = keys.mutable_data_ptr<float>() + first * dim;
  float* value_cache = values.mutable_data_ptr<float>() + first * dim;
  const auto rotate = kernels::cpu_kernels().rotate;
  pool.for_ranges(tokens, kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const float* row = qkv + t * width;
      const float* cosine = cosines + t * (dim / 2);
      const float* sine = sines + t * (dim / 2);
      for (int64_t h = 0; h < c.heads; ++h) {
        rotate(row + h * dim, cosine, sine, dim,
               queries + h * buffers.head_step + t * buffers.query_step);
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

void feed_forward(kernels::ThreadPool& pool, PrefillGemm& products, const LlamaConfig& c,
                  const LlamaLayer& layer, int64_t index, const nn::Adapters* adapters,
                  PromptBuffers& buffers) {
  const int64_t tokens = buffers.hidden.size(0);
  const auto run = kernels::cpu_kernels().silu_multiply;
  normalize(pool, buffers.hidden, layer.mlp_norm, c.rms_eps, buffers.normed);
  const PrefillWeight gate_up_weight = products.weight(layer.gate_up);
  const PrefillWeight down_weight = products.weight(layer.down, PrefillGemm::Place::second);
  for (int64_t first = 0; first < tokens; first += kMlpRows) {
    const int64_t rows = std::min(kMlpRows, tokens - first);
    at::Tensor gate_up = buffers.gate_up.narrow(0, 0, rows);
    at::Tensor activation = buffers.activation.narrow(0, 0, rows);
    const at::Tensor read = buffers.normed.narrow(0, first, rows);
    products.multiply(read, gate_up_weight, gate_up);
    add_adapters(adapters, layer.gate_up, read, gate_up);
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
    products.add(activation, down_weight, hidden);
    add_adapters(adapters, layer.down, activation, hidden);
    add_bias(layer.down_bias, hidden);
    if (adapters == nullptr) continue;
    const auto& beside = adapters->layer(static_cast<size_t>(index)).mlp;
    if (beside) hidden.add_(nn::apply(*beside, read));
  }
}

}  // namespace

void Llama::finish_prefill(nn::KeyValueCache& cache, int64_t row, const PromptBuffers& buffers) {
  const LlamaConfig& c = config();
  const int64_t last = buffers.hidden.size(0) - 1;
  const float* queries = buffers.queries.const_data_ptr<float>() + last * buffers.query_step;
  for (int64_t h = 0; h < c.heads; ++h) {
    std::copy_n(queries + h * buffers.head_step, c.head_dim,
                scratch_->queries.data() + h * c.head_dim);
  }
  std::copy_n(buffers.hidden.const_data_ptr<float>() + last * c.hidden, c.hidden,
              scratch_->hidden.data());
  int64_t& length = cache.lengths[static_cast<size_t>(row)];
  const int64_t held = length;
  length = held + last;
  attend_step(cache, c.layers - 1, {&row, 1});
  length = held;
  finish_step(c.layers - 1, 1);
}

void Llama::attend_rest(const nn::KeyValueCache& cache, int64_t layer, int64_t row,
                        const PromptBuffers& buffers, float* out) {
  Scratch& s = *scratch_;
  const at::Tensor keys = cache.keys.select(0, layer).select(0, row);
  const at::Tensor values = cache.values.select(0, layer).select(0, row);
  const int64_t held = cache.lengths[static_cast<size_t>(row)];
  s.attended.clear();
  for (int64_t i = 0; i < buffers.hidden.size(0); ++i) {
    s.attended.push_back({keys.const_data_ptr<float>(), values.const_data_ptr<float>(),
                          held + i + 1, keys.stride(0)});
  }
  s.step.attend(s.pool, buffers.queries.const_data_ptr<float>(), buffers.query_step, s.attended,
                out);
}

void Llama::embed_prompt(std::span<const int32_t> tokens,
                         std::span<const nn::EmbeddedRows> embedded, PromptBuffers& buffers) const {
  embed(tokens, buffers.hidden.mutable_data_ptr<float>());
  for (const nn::EmbeddedRows& some : embedded) {
    buffers.hidden.narrow(0, some.at, some.rows.size(0)).copy_(some.rows.detach());
  }
}

void Llama::read_prompt(nn::KeyValueCache& cache, int64_t row, int64_t until,
                        const nn::Adapters* adapters, PromptBuffers& buffers) {
  const LlamaConfig& c = config();
  const int64_t count = buffers.hidden.size(0);
  const int64_t held = cache.lengths[static_cast<size_t>(row)];
  kernels::ThreadPool& pool = scratch_->pool;
  PrefillGemm products(pool, c, scratch_->bfloat16_products);
  for (int64_t l = 0; l < until; ++l) {
    const LlamaLayer& layer = weights_->layers[static_cast<size_t>(l)];
    const at::Tensor keys = cache.keys.select(0, l).select(0, row);
    const at::Tensor values = cache.values.select(0, l).select(0, row);
    normalize(pool, buffers.hidden, layer.attention_norm, c.rms_eps, buffers.normed);
    products.multiply(buffers.normed, products.weight(layer.qkv), buffers.qkv);
    add_adapters(adapters, layer.qkv, buffers.normed, buffers.qkv);
    add_bias(layer.qkv_bias, buffers.qkv);
    rotate_and_store(pool, c, scratch_->rotations.rotations(), buffers, keys, values, held);
    if (l + 1 == c.layers) {
      // Only the last position is read from here on: as one step of decoding.
      finish_prefill(cache, row, buffers);
      return;
    }
    at::Tensor merged;
    if (held == 0) {
      const at::Tensor attended = std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(
          buffers.queries, keys.narrow(1, 0, count).unsqueeze(0),
          values.narrow(1, 0, count).unsqueeze(0), 0.0, true));
      merged = attended.transpose(1, 2).reshape({count, c.query_width()});
    } else {
      merged = at::empty({count, c.query_width()});
      attend_rest(cache, l, row, buffers, merged.mutable_data_ptr<float>());
    }
    add_prompts(adapters, l, buffers, merged);
    products.add(merged, products.weight(layer.attention_output), buffers.hidden);
    add_adapters(adapters, layer.attention_output, merged, buffers.hidden);
    add_bias(layer.output_bias, buffers.hidden);
    feed_forward(pool, products, c, layer, l, adapters, buffers);
  }
}

Status Llama::prefill(nn::KeyValueCache& cache, int64_t row, std::span<const int32_t> tokens,
                      std::span<float> logits, const nn::Adapters* adapters,
                      std::span<const nn::EmbeddedRows> embedded) {
  const LlamaConfig& c = config();
  const auto count = static_cast<int64_t>(tokens.size());
  if (row < 0 || row >= static_cast<int64_t>(cache.lengths.size()) ||
      static_cast<int64_t>(logits.size()) != c.vocabulary) {
    return internal_error("prefill of row " + std::to_string(row) + " does not match its cache");
  }
  const int64_t held = cache.lengths[static_cast<size_t>(row)];
  if (count == 0 || held + count > cache.capacity()) {
    return invalid_argument("a prompt of " + std::to_string(count) + " tokens for a row of " +
                            std::to_string(cache.capacity()) + " that holds " +
                            std::to_string(held));
  }
  if (Status status = nn::check_token_ids(tokens, c.vocabulary); !status.ok()) return status;
  return nn::guarded("reading a prompt of " + std::to_string(count) + " tokens", [&]() -> Status {
    reserve_step(1, cache.capacity());
    scratch_->adapters.assign(1, adapters);
    PromptBuffers buffers(c, count, held > 0);
    embed_prompt(tokens, embedded, buffers);
    read_prompt(cache, row, c.layers, adapters, buffers);
    head(scratch_->hidden.data(), 1, logits.data());
    cache.lengths[static_cast<size_t>(row)] = held + count;
    return {};
  });
}

Result<at::Tensor> Llama::stream_before(int64_t layer, const nn::SequenceInput& input) {
  const auto count = static_cast<int64_t>(input.ids.size());
  Status can = nn::check_token_ids(input.ids, config().vocabulary);
  if (can.ok()) can = nn::check_embedded(input, config().hidden);
  if (!can.ok()) return can.error();
  nn::KeyValueCache cache;
  if (Status room = make_room(cache, 1, count); !room.ok()) return room.error();
  return nn::guarded("reading a prompt of " + std::to_string(count) + " tokens",
                     [&]() -> Result<at::Tensor> {
                       reserve_step(1, count);
                       PromptBuffers buffers(config(), count, false);
                       embed_prompt(input.ids, input.embedded, buffers);
                       read_prompt(cache, 0, layer, input.adapters.get(), buffers);
                       return buffers.hidden;
                     });
}

}  // namespace qfs::architectures

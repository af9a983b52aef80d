#include "methods/models/architectures/llama/llama.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <utility>

#include "methods/models/architectures/llama/llama_names.h"
#include "methods/models/architectures/llama/llama_network.h"
#include "methods/models/architectures/llama/llama_scratch.h"
#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/kernels/dense_kernels.h"
#include "methods/models/nn/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::architectures {

namespace {

// Weight rows of one task: enough work to outweigh handing it out.
constexpr int64_t kMatVecGrain = 32;

/// y [rows, outputs] of x [rows, inputs].
void matvec(kernels::ThreadPool& pool, const nn::Matrix& weight, const float* x, int64_t rows,
            bool accumulate, float* y) {
  const kernels::MatVecFn run = kernels::cpu_kernels().matvec;
  kernels::MatVec task;
  task.type = weight.type;
  task.weight = weight.data.get();
  task.row_bytes = weight.row_bytes;
  task.x = x;
  task.y = y;
  task.inner = weight.columns;
  task.batch = rows;
  task.y_stride = weight.rows;
  task.accumulate = accumulate;
  pool.for_ranges(weight.rows, kMatVecGrain,
                  [&](int64_t begin, int64_t end) { run(task, begin, end); });
}

/// y [outputs] of x [inputs], for a matrix of a few rows or columns.
void small_matvec(const at::Tensor& weight, const float* x, bool accumulate, float* y) {
  kernels::MatVec task;
  task.weight = static_cast<const std::byte*>(weight.const_data_ptr());
  task.row_bytes = weight.size(1) * static_cast<int64_t>(sizeof(float));
  task.x = x;
  task.y = y;
  task.inner = weight.size(1);
  task.batch = 1;
  task.y_stride = weight.size(0);
  task.accumulate = accumulate;
  kernels::cpu_kernels().matvec(task, 0, weight.size(0));
}

/// Adds a bias, if there is one, to `rows` rows of its length.
void add_bias(const std::vector<float>& bias, int64_t rows, float* y) {
  for (int64_t row = 0; row < rows && !bias.empty(); ++row) {
    for (const float value : bias) *y++ += value;
  }
}

}  // namespace

Llama::Llama(std::shared_ptr<const LlamaWeights> weights, bool bfloat16_products)
    : weights_(std::move(weights)),
      scratch_(std::make_unique<Scratch>(weights_->config, at::get_num_threads())) {
  scratch_->bfloat16_products = bfloat16_products;
}

Llama::Llama(Llama&&) noexcept = default;
Llama::~Llama() = default;

Status Llama::make_room(nn::KeyValueCache& cache, int64_t rows, int64_t capacity) const {
  const LlamaConfig& c = config();
  const Status fits = nn::check_cache_size(rows, capacity, c.context);
  if (!fits.ok()) return fits;
  return cache.make_room({c.layers, c.kv_heads, c.head_dim}, at::kFloat, rows, capacity);
}

Result<std::shared_ptr<const nn::Adapters>> Llama::bind(const nn::AdapterSet& set) const {
  const LlamaNames& names = hugging_face_llama_names();
  const LlamaConfig& c = config();
  nn::AdapterPlaces places;
  const auto add = [&](const nn::Matrix& matrix, std::vector<nn::FusedPart> layers) {
    places.linears.push_back({matrix.data.get(), std::move(layers), matrix.columns});
  };
  for (int64_t i = 0; i < c.layers; ++i) {
    const LlamaLayerNames from = names.layer(i);
    const LlamaLayer& layer = weights_->layers[static_cast<size_t>(i)];
    add(layer.qkv,
        {{from.query, c.query_width()}, {from.key, c.kv_width()}, {from.value, c.kv_width()}});
    add(layer.attention_output, {{from.attention_output, c.hidden}});
    add(layer.gate_up, {{from.gate, c.intermediate}, {from.up, c.intermediate}});
    add(layer.down, {{from.down, c.hidden}});
  }
  places.layers = shape_of(c).widths;
  places.keys_values = [&](size_t index, const at::Tensor& rows) {
    const LlamaLayer& layer = weights_->layers[index];
    const at::Tensor qkv = at::empty({rows.size(0), layer.qkv.rows});
    matvec(scratch_->pool, layer.qkv, rows.const_data_ptr<float>(), rows.size(0), false,
           qkv.mutable_data_ptr<float>());
    add_bias(layer.qkv_bias, rows.size(0), qkv.mutable_data_ptr<float>());
    return keys_values_of(qkv, c);
  };
  return nn::Adapters::bind(set, places);
}

void Llama::reserve_step(int64_t rows, int64_t capacity) {
  const LlamaConfig& c = config();
  Scratch& s = *scratch_;
  s.step.reserve(rows, capacity);
  s.rotations.cover(capacity);
  if (rows <= s.rows) return;
  s.rows = rows;
  const auto size = [&](int64_t per_row) { return static_cast<size_t>(s.rows * per_row); };
  s.hidden.resize(size(c.hidden));
  s.normed.resize(size(c.hidden));
  s.qkv.resize(size(c.query_width() + 2 * c.kv_width()));
  s.queries.resize(size(c.query_width()));
  s.attention.resize(size(c.query_width()));
  s.gate_up.resize(size(2 * c.intermediate));
  s.activation.resize(size(c.intermediate));
}

void Llama::attend_step(const nn::KeyValueCache& cache, int64_t layer,
                        std::span<const int64_t> rows) {
  const LlamaConfig& c = config();
  Scratch& s = *scratch_;
  const int64_t head_size = cache.capacity() * c.head_dim;
  const int64_t row_size = c.kv_heads * head_size;
  const int64_t layer_offset = layer * cache.keys.size(1) * row_size;
  s.attended.clear();
  for (const int64_t row : rows) {
    const int64_t offset = layer_offset + row * row_size;
    s.attended.push_back({cache.keys.const_data_ptr<float>() + offset,
                          cache.values.const_data_ptr<float>() + offset,
                          cache.lengths[static_cast<size_t>(row)] + 1, head_size});
  }
  s.step.attend(s.pool, s.queries.data(), c.query_width(), s.attended, s.attention.data());
  for (int64_t b = 0; b < static_cast<int64_t>(rows.size()); ++b) {
    const nn::Adapters* adapters = s.adapters[static_cast<size_t>(b)];
    if (adapters == nullptr) continue;
    const auto& prompt = adapters->layer(static_cast<size_t>(layer)).prompt;
    if (!prompt) continue;
    const int64_t offset = b * c.query_width();
    at::from_blob(s.attention.data() + offset, {1, c.query_width()})
        .add_(nn::prompt_attention(
            at::from_blob(s.queries.data() + offset, {1, c.heads, c.head_dim}), *prompt));
  }
}

void Llama::finish_step(int64_t index, int64_t rows) {
  const LlamaConfig& c = config();
  const LlamaLayer& layer = weights_->layers[static_cast<size_t>(index)];
  Scratch& s = *scratch_;
  const auto& kernels = kernels::cpu_kernels();
  multiply(layer.attention_output, s.attention.data(), rows, true, s.hidden.data());
  add_bias(layer.output_bias, rows, s.hidden.data());
  for (int64_t b = 0; b < rows; ++b) {
    kernels.rms_norm(s.hidden.data() + b * c.hidden, layer.mlp_norm.data(), c.hidden, c.rms_eps,
                     s.normed.data() + b * c.hidden);
  }
  multiply(layer.gate_up, s.normed.data(), rows, false, s.gate_up.data());
  add_bias(layer.gate_up_bias, rows, s.gate_up.data());
  for (int64_t b = 0; b < rows; ++b) {
    const float* gate = s.gate_up.data() + b * 2 * c.intermediate;
    kernels.silu_multiply(gate, gate + c.intermediate, c.intermediate,
                          s.activation.data() + b * c.intermediate);
  }
  multiply(layer.down, s.activation.data(), rows, true, s.hidden.data());
  add_bias(layer.down_bias, rows, s.hidden.data());
  for (int64_t b = 0; b < rows; ++b) {
    const nn::Adapters* adapters = s.adapters[static_cast<size_t>(b)];
    if (adapters == nullptr) continue;
    const auto& mlp = adapters->layer(static_cast<size_t>(index)).mlp;
    if (!mlp) continue;
    at::from_blob(s.hidden.data() + b * c.hidden, {1, c.hidden})
        .add_(nn::apply(*mlp, at::from_blob(s.normed.data() + b * c.hidden, {1, c.hidden})));
  }
}

void Llama::multiply(const nn::Matrix& weight, const float* x, int64_t rows, bool accumulate,
                     float* y) {
  Scratch& s = *scratch_;
  matvec(s.pool, weight, x, rows, accumulate, y);
  for (int64_t b = 0; b < rows; ++b) {
    const nn::Adapters* adapters = s.adapters[static_cast<size_t>(b)];
    if (adapters == nullptr) continue;
    for (const nn::Adapters::Rows& to : adapters->of(weight.data.get())) {
      s.low_rank.resize(static_cast<size_t>(to.added.down.size(0)));
      small_matvec(to.added.down, x + b * weight.columns, false, s.low_rank.data());
      for (float& value : s.low_rank) value *= static_cast<float>(to.added.scale);
      small_matvec(to.added.up, s.low_rank.data(), true, y + b * weight.rows + to.first);
    }
  }
}

void Llama::embed(std::span<const int32_t> tokens, float* out) const {
  const nn::Matrix& embedding = weights_->embedding;
  for (size_t i = 0; i < tokens.size(); ++i) {
    kernels::cpu_kernels().expand(embedding.type, embedding.row(tokens[i]), embedding.columns,
                                  out + static_cast<int64_t>(i) * embedding.columns);
  }
  if (!config().embedding_norm) return;
  kernels::dense_kernels().layer_norm(
      out, static_cast<int64_t>(tokens.size()), config().hidden, weights_->embedding_norm.data(),
      weights_->embedding_norm_bias.data(), LlamaConfig::kEmbeddingNormEps);
}

void Llama::head(const float* hidden, int64_t rows, float* logits) {
  const LlamaConfig& c = config();
  Scratch& s = *scratch_;
  for (int64_t b = 0; b < rows; ++b) {
    kernels::cpu_kernels().rms_norm(hidden + b * c.hidden, weights_->output_norm.data(), c.hidden,
                                    c.rms_eps, s.normed.data() + b * c.hidden);
  }
  s.headed_rows = rows;
  matvec(s.pool, weights_->head, s.normed.data(), rows, false, logits);
}

Result<at::Tensor> Llama::last_states() const {
  Scratch& s = *scratch_;
  if (s.headed_rows == 0) return invalid_argument("nothing has been read yet");
  return nn::guarded("copying states", [&]() -> Result<at::Tensor> {
    return at::from_blob(s.normed.data(), {s.headed_rows, config().hidden}).clone();
  });
}

Status Llama::decode(nn::KeyValueCache& cache, std::span<const int64_t> rows,
                     std::span<const int32_t> tokens, std::span<float> logits,
                     std::span<const std::shared_ptr<const nn::Adapters>> adapters) {
  const LlamaConfig& c = config();
  const auto batch = static_cast<int64_t>(rows.size());
  Status status = nn::check_step(rows, tokens, c.vocabulary, cache.lengths, cache.capacity());
  if (!status.ok()) return status;
  status = nn::check_logits_room(logits, rows.size(), c.vocabulary);
  if (!status.ok()) return status;
  return nn::guarded("decoding", [&]() -> Status {
    reserve_step(batch, cache.capacity());
    Scratch& s = *scratch_;
    const auto& kernels = kernels::cpu_kernels();
    s.adapters.assign(rows.size(), nullptr);
    for (size_t i = 0; i < rows.size() && !adapters.empty(); ++i) {
      s.adapters[i] = adapters[static_cast<size_t>(rows[i])].get();
    }
    embed(tokens, s.hidden.data());
    for (int64_t l = 0; l < c.layers; ++l) {
      const LlamaLayer& layer = weights_->layers[static_cast<size_t>(l)];
      for (int64_t b = 0; b < batch; ++b) {
        kernels.rms_norm(s.hidden.data() + b * c.hidden, layer.attention_norm.data(), c.hidden,
                         c.rms_eps, s.normed.data() + b * c.hidden);
      }
      multiply(layer.qkv, s.normed.data(), batch, false, s.qkv.data());
      add_bias(layer.qkv_bias, batch, s.qkv.data());
      store_step(cache, l, rows);
      attend_step(cache, l, rows);
      finish_step(l, batch);
    }
    head(s.hidden.data(), batch, logits.data());
    for (const int64_t row : rows) ++cache.lengths[static_cast<size_t>(row)];
    return {};
  });
}

void Llama::store_step(nn::KeyValueCache& cache, int64_t layer, std::span<const int64_t> rows) {
  const LlamaConfig& c = config();
  Scratch& s = *scratch_;
  const auto& kernels = kernels::cpu_kernels();
  const int64_t dim = c.head_dim;
  const int64_t width = c.query_width() + 2 * c.kv_width();
  float* keys = cache.keys.mutable_data_ptr<float>();
  float* values = cache.values.mutable_data_ptr<float>();
  const nn::Rotations& rotations = s.rotations.rotations();
  for (size_t b = 0; b < rows.size(); ++b) {
    const float* qkv = s.qkv.data() + static_cast<int64_t>(b) * width;
    const int64_t position = cache.lengths[static_cast<size_t>(rows[b])];
    const float* cosines = rotations.cosines.const_data_ptr<float>() + position * (dim / 2);
    const float* sines = rotations.sines.const_data_ptr<float>() + position * (dim / 2);
    for (int64_t h = 0; h < c.heads; ++h) {
      kernels.rotate(qkv + h * dim, cosines, sines, dim,
                     s.queries.data() + static_cast<int64_t>(b) * c.query_width() + h * dim);
    }
    for (int64_t h = 0; h < c.kv_heads; ++h) {
      const int64_t row = (layer * cache.keys.size(1) + rows[b]) * c.kv_heads + h;
      const int64_t offset = (row * cache.capacity() + position) * dim;
      const float* key = qkv + c.query_width() + h * dim;
      const float* value = key + c.kv_width();
      kernels.rotate(key, cosines, sines, dim, keys + offset);
      std::copy(value, value + dim, values + offset);
    }
  }
}

}  // namespace qfs::architectures

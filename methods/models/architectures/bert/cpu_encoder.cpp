#include "methods/models/architectures/bert/cpu_encoder.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <string>

#include "methods/models/nn/input_checks.h"

namespace qfs::architectures {

namespace {

/// Tokens of a group: a few hundred rows fill the kernels, and their activations fit a cache.
constexpr int64_t kGroupRows = 384;

size_t floats(int64_t rows, int64_t width) { return static_cast<size_t>(rows * width); }

/// Keys whose scores lie beside one another.
int64_t whole_panels(int64_t length) { return kernels::panel_floats(length, 1); }

void add(const float* values, float* sums, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] += values[i];
}

}  // namespace

CpuEncoder::PackedLinear CpuEncoder::packed(const nn::Linear& linear) {
  PackedLinear result;
  result.outputs = linear.weight.size(0);
  result.inputs = linear.weight.size(1);
  result.panels.resize(static_cast<size_t>(kernels::panel_floats(result.outputs, result.inputs)));
  kernels::pack_rows(linear.weight.const_data_ptr<float>(), result.outputs, result.inputs,
                     result.inputs, result.panels.data());
  result.bias = linear.bias.const_data_ptr<float>();
  return result;
}

CpuEncoder::CpuEncoder(std::shared_ptr<const EncoderWeights> weights, int64_t layers, int threads)
    : weights_(std::move(weights)), kernels_(kernels::dense_kernels()), pool_(threads) {
  layers_.resize(static_cast<size_t>(layers));
  pool_.for_ranges(layers, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const EncoderLayer& layer = weights_->layers[static_cast<size_t>(i)];
      layers_[static_cast<size_t>(i)] = {packed(layer.qkv), packed(layer.attention_output),
                                         packed(layer.up), packed(layer.down)};
    }
  });
}

Status CpuEncoder::check(const std::vector<int32_t>& text) const {
  const EncoderConfig& c = config();
  const auto length = static_cast<int64_t>(text.size());
  if (length == 0 || length > c.max_tokens()) {
    return invalid_argument("a text of " + std::to_string(length) +
                            " tokens; the encoder reads 1 to " + std::to_string(c.max_tokens()));
  }
  return nn::check_token_ids(text, c.vocabulary);
}

std::vector<CpuEncoder::Group> CpuEncoder::groups(
    std::span<const std::vector<int32_t>* const> texts) const {
  int64_t total = 0;
  for (const auto* text : texts) total += static_cast<int64_t>(text->size());
  // Few texts: smaller groups, so that every thread has some.
  const int64_t rows = std::min(kGroupRows, total / (4 * pool_.threads()) + 1);
  std::vector<Group> result;
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto length = static_cast<int64_t>(texts[i]->size());
    if (result.empty() || result.back().rows + length > rows) result.push_back({i, i, 0, 0});
    Group& group = result.back();
    group.end = i + 1;
    group.rows += length;
    group.longest = std::max(group.longest, length);
  }
  return result;
}

void CpuEncoder::reserve(std::span<const Group> groups) {
  const EncoderConfig& c = config();
  int64_t rows = 0;
  int64_t longest = 0;
  for (const Group& group : groups) {
    rows = std::max(rows, group.rows);
    longest = std::max(longest, group.longest);
  }
  while (free_.size() < static_cast<size_t>(pool_.threads())) {
    free_.push_back(std::make_unique<Scratch>());
  }
  for (const auto& scratch : free_) {
    const auto grow = [](std::vector<float>& buffer, size_t size) {
      if (buffer.size() < size) buffer.resize(size);
    };
    grow(scratch->states, floats(rows, c.hidden));
    grow(scratch->qkv, floats(rows, 3 * c.hidden));
    grow(scratch->attended, floats(rows, c.hidden));
    grow(scratch->inner, floats(rows, c.intermediate));
    grow(scratch->keys, static_cast<size_t>(kernels::panel_floats(longest, c.head_dim())));
    grow(scratch->values, static_cast<size_t>(kernels::panel_floats(c.head_dim(), longest)));
    grow(scratch->scores, floats(longest, whole_panels(longest)));
  }
}

void CpuEncoder::embed(const std::vector<int32_t>& ids, float* rows) const {
  const EncoderConfig& c = config();
  const float* const embeddings = weights_->token_embeddings.const_data_ptr<float>();
  const float* const positions = weights_->positions.const_data_ptr<float>();
  const float* const segment =
      c.segments > 0 ? weights_->segments.const_data_ptr<float>() : nullptr;
  const auto scale = static_cast<float>(c.embedding_scale);
  int64_t next = c.first_position;
  for (const int32_t id : ids) {
    const bool none = c.padding_has_no_position && id == c.padding_id;
    const float* const position = positions + (none ? c.padding_id : next++) * c.hidden;
    const float* const word = embeddings + int64_t{id} * c.hidden;
    for (int64_t i = 0; i < c.hidden; ++i) rows[i] = word[i] * scale;
    if (segment != nullptr) add(segment, rows, c.hidden);
    add(position, rows, c.hidden);
    rows += c.hidden;
  }
}

void CpuEncoder::multiply(const PackedLinear& linear, const float* x, int64_t rows,
                          float* y) const {
  kernels_.multiply({linear.panels.data(), linear.bias, x, y, rows, linear.inputs, linear.outputs,
                     linear.inputs, linear.outputs});
}

void CpuEncoder::normalize(const nn::LayerNorm& norm, float* rows, int64_t count) const {
  kernels_.layer_norm(rows, count, config().hidden, norm.weight.const_data_ptr<float>(),
                      norm.bias.const_data_ptr<float>(), static_cast<float>(config().norm_eps));
}

void CpuEncoder::attend(const std::vector<int32_t>& ids, int64_t first_row,
                        Scratch& scratch) const {
  const EncoderConfig& c = config();
  const int64_t dim = c.head_dim();
  const int64_t stride = 3 * c.hidden;
  const auto length = static_cast<int64_t>(ids.size());
  const int64_t padded = whole_panels(length);
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(dim)));
  for (int64_t head = 0; head < c.heads; ++head) {
    const float* const query = scratch.qkv.data() + first_row * stride + head * dim;
    kernels::pack_rows(query + c.hidden, length, dim, stride, scratch.keys.data());
    kernels::pack_columns(query + 2 * c.hidden, dim, length, stride, scratch.values.data());
    kernels_.multiply({scratch.keys.data(), nullptr, query, scratch.scores.data(), length, dim,
                       padded, stride, padded});
    kernels_.softmax(scratch.scores.data(), length, length, padded, scale);
    kernels_.multiply({scratch.values.data(), nullptr, scratch.scores.data(),
                       scratch.attended.data() + first_row * c.hidden + head * dim, length, length,
                       dim, padded, c.hidden});
  }
}

void CpuEncoder::encode(const Group& group, std::span<const std::vector<int32_t>* const> texts,
                        std::span<float* const> outs) {
  const EncoderConfig& c = config();
  std::unique_ptr<Scratch> scratch;
  {
    const std::lock_guard lock(mutex_);
    scratch = std::move(free_.back());
    free_.pop_back();
  }
  float* const states = scratch->states.data();
  int64_t row = 0;
  for (size_t i = group.begin; i < group.end; ++i) {
    embed(*texts[i], states + row * c.hidden);
    row += static_cast<int64_t>(texts[i]->size());
  }
  normalize(weights_->norm, states, group.rows);
  const auto activate = c.activation == nn::Activation::gelu ? kernels_.gelu : kernels_.gelu_tanh;
  for (size_t l = 0; l < layers_.size(); ++l) {
    const EncoderLayer& layer = weights_->layers[l];
    multiply(layers_[l].qkv, states, group.rows, scratch->qkv.data());
    row = 0;
    for (size_t i = group.begin; i < group.end; ++i) {
      attend(*texts[i], row, *scratch);
      row += static_cast<int64_t>(texts[i]->size());
    }
    float* const sums = scratch->qkv.data();  // no longer needed as such
    multiply(layers_[l].attention_output, scratch->attended.data(), group.rows, sums);
    add(sums, states, group.rows * c.hidden);
    normalize(layer.attention_norm, states, group.rows);
    float* const inner = scratch->inner.data();
    multiply(layers_[l].up, states, group.rows, inner);
    const int64_t values = group.rows * c.intermediate;
    if (c.activation == nn::Activation::relu) {
      for (int64_t i = 0; i < values; ++i) inner[i] = std::max(inner[i], 0.0F);
    } else {
      activate(inner, values);
    }
    multiply(layers_[l].down, inner, group.rows, sums);
    add(sums, states, group.rows * c.hidden);
    normalize(layer.output_norm, states, group.rows);
  }
  row = 0;
  for (size_t i = group.begin; i < group.end; ++i) {
    const auto length = static_cast<int64_t>(texts[i]->size());
    std::copy_n(states + row * c.hidden, length * c.hidden, outs[i]);
    row += length;
  }
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(scratch));
}

Status CpuEncoder::encode(std::span<const std::vector<int32_t>* const> texts,
                          std::span<float* const> outs) {
  for (const auto* text : texts) {
    if (Status status = check(*text); !status.ok()) return status;
  }
  std::vector<Group> parts;
  try {
    parts = groups(texts);
    reserve(parts);
  } catch (const std::bad_alloc&) {
    return out_of_memory("encoding " + std::to_string(texts.size()) + " texts");
  }
  pool_.for_items(static_cast<int64_t>(parts.size()),
                  [&](int64_t i) { encode(parts[static_cast<size_t>(i)], texts, outs); });
  return {};
}

}  // namespace qfs::architectures

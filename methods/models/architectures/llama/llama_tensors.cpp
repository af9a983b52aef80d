#include "methods/models/architectures/llama/llama_tensors.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>

#include <utility>

#include "methods/models/architectures/llama/llama_names.h"
#include "methods/models/architectures/llama/llama_network.h"
#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/nn/device_copier.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::architectures {

namespace {

/// Where matrices and vectors go.
class TensorMaker {
 public:
  virtual ~TensorMaker() = default;
  virtual nn::Linear matrix(const nn::Matrix& source) = 0;
  virtual at::Tensor vector(const std::vector<float>& source) = 0;

  nn::Linear linear(const nn::Matrix& weight, const std::vector<float>& bias) {
    nn::Linear made = matrix(weight);
    made.bias = vector(bias);
    return made;
  }
};

class Expander final : public TensorMaker {
 public:
  Expander(at::Device device, at::ScalarType type) : copier_(device, type) {}

  nn::Linear matrix(const nn::Matrix& source) override {
    const auto expand = kernels::cpu_kernels().expand;
    return {
        copier_.matrix(source.rows, source.columns, [&](int64_t first, int64_t count, float* out) {
          for (int64_t row = first; row < first + count; ++row, out += source.columns) {
            expand(source.type, source.row(row), source.columns, out);
          }
        })};
  }
  at::Tensor vector(const std::vector<float>& source) override {
    return source.empty() ? at::Tensor() : copier_.tensor(at::tensor(source));
  }

 private:
  nn::DeviceCopier copier_;
};

class Viewer final : public TensorMaker {
 public:
  nn::Linear matrix(const nn::Matrix& source) override {
    const auto keep = [data = source.data](void*) mutable { data.reset(); };
    return {at::from_blob(source.data.get(), {source.rows, source.row_bytes}, keep, at::kByte),
            {},
            source.type};
  }
  at::Tensor vector(const std::vector<float>& source) override {
    return source.empty() ? at::Tensor() : at::tensor(source);
  }
};

std::shared_ptr<const LlamaTensors> made_by(TensorMaker& make, const LlamaWeights& weights) {
  auto made = std::make_shared<LlamaTensors>();
  made->config = weights.config;
  made->embedding = make.matrix(weights.embedding);
  made->embedding_norm = {make.vector(weights.embedding_norm),
                          make.vector(weights.embedding_norm_bias)};
  for (const LlamaLayer& layer : weights.layers) {
    made->layers.push_back(
        {make.vector(layer.attention_norm), make.linear(layer.qkv, layer.qkv_bias),
         make.linear(layer.attention_output, layer.output_bias), make.vector(layer.mlp_norm),
         make.linear(layer.gate_up, layer.gate_up_bias), make.linear(layer.down, layer.down_bias)});
  }
  made->output_norm = make.vector(weights.output_norm);
  const bool tied = weights.head.data == weights.embedding.data;
  made->head = tied ? made->embedding : make.matrix(weights.head);
  return made;
}

class LlamaDecoder final : public nn::DecoderOf<LlamaDecoder, LlamaTensors> {
 public:
  explicit LlamaDecoder(std::shared_ptr<const LlamaTensors> weights)
      : DecoderOf(std::move(weights)) {
    const LlamaConfig& c = weights_->config;
    shape_ = {.sequence = shape_of(c),
              .layers = c.layers,
              .heads = c.heads,
              .kv_heads = c.kv_heads,
              .head_dim = c.head_dim,
              .rope = c.rope};
  }

  const nn::DecoderShape& shape() const override { return shape_; }
  const nn::Linear& head() const override { return weights_->head; }
  at::ScalarType type() const override { return weights_->output_norm.scalar_type(); }
  int64_t hidden() const override { return weights_->config.hidden; }

  at::Tensor embed(const at::Tensor& ids, const at::Tensor& /*positions*/) const override {
    const nn::Linear& table = weights_->embedding;
    at::Tensor states = table.weight.index_select(0, ids);
    if (table.packed) states = nn::expanded({states, {}, table.packed}, hidden());
    if (!weights_->config.embedding_norm) return states;
    return nn::apply(weights_->embedding_norm, states, LlamaConfig::kEmbeddingNormEps);
  }

  at::Tensor layer(size_t index, const at::Tensor& stream,
                   nn::LayerOperations& run) const override {
    const LlamaTensorLayer& layer = weights_->layers[index];
    const at::Tensor attended =
        run.attend_past(index, layer.qkv, normed(stream, layer.attention_norm));
    const at::Tensor middle =
        run.kept(index, stream) + run.multiply(layer.attention_output, attended);
    const at::Tensor read = normed(middle, layer.mlp_norm);
    const at::Tensor gated = run.gated_silu(run.multiply(layer.gate_up, read));
    return middle + run.beside_mlp(index, run.multiply(layer.down, gated), read);
  }

  at::Tensor keys_values(size_t index, const at::Tensor& rows) const override {
    return keys_values_of(nn::apply(weights_->layers[index].qkv, rows), weights_->config);
  }

  at::Tensor last_states(const at::Tensor& stream) const override {
    return normed(stream, weights_->output_norm);
  }

 private:
  at::Tensor normed(const at::Tensor& states, const at::Tensor& weight) const {
    return nn::rms_norm(states, weight, weights_->config.rms_eps);
  }

  nn::DecoderShape shape_;
};

}  // namespace

Result<std::shared_ptr<const LlamaTensors>> copy_to_device(const LlamaWeights& weights,
                                                           at::Device device, at::ScalarType type) {
  using Copied = Result<std::shared_ptr<const LlamaTensors>>;
  return nn::guarded("copying weights to " + device.str(), [&]() -> Copied {
    Expander from(device, type);
    return made_by(from, weights);
  });
}

Result<std::shared_ptr<const LlamaTensors>> packed_views(const LlamaWeights& weights) {
  using Seen = Result<std::shared_ptr<const LlamaTensors>>;
  return nn::guarded("looking at packed weights", [&]() -> Seen {
    Viewer view;
    return made_by(view, weights);
  });
}

at::Tensor keys_values_of(const at::Tensor& qkv, const LlamaConfig& config) {
  return qkv.narrow(1, config.query_width(), 2 * config.kv_width())
      .view({qkv.size(0), 2, config.kv_heads, config.head_dim})
      .permute({1, 2, 0, 3});
}

void visit_weights(LlamaTensors& weights, nn::WeightVisitor& visitor) {
  const LlamaNames& names = hugging_face_llama_names();
  const LlamaConfig& c = weights.config;
  const std::vector<int64_t> table = {c.vocabulary, c.hidden};
  visitor.tensor(names.embedding + ".weight", weights.embedding.weight, table);
  if (c.embedding_norm) visitor.norm(names.embedding_norm, weights.embedding_norm, c.hidden);
  weights.layers.resize(static_cast<size_t>(c.layers));
  for (int64_t i = 0; i < c.layers; ++i) {
    const LlamaLayerNames from = names.layer(i);
    LlamaTensorLayer& layer = weights.layers[static_cast<size_t>(i)];
    visitor.tensor(from.attention_norm + ".weight", layer.attention_norm, {c.hidden});
    visitor.fused(
        {{from.query, c.query_width()}, {from.key, c.kv_width()}, {from.value, c.kv_width()}},
        layer.qkv, c.hidden, c.qkv_bias);
    visitor.linear(from.attention_output, layer.attention_output, c.hidden, c.query_width(),
                   c.output_bias);
    visitor.tensor(from.mlp_norm + ".weight", layer.mlp_norm, {c.hidden});
    visitor.fused({{from.gate, c.intermediate}, {from.up, c.intermediate}}, layer.gate_up, c.hidden,
                  c.mlp_bias);
    visitor.linear(from.down, layer.down, c.hidden, c.intermediate, c.mlp_bias);
  }
  visitor.tensor(names.output_norm + ".weight", weights.output_norm, {c.hidden});
  if (c.tied) {
    visitor.tied(names.head + ".weight", weights.head.weight, weights.embedding.weight, table);
  } else {
    visitor.tensor(names.head + ".weight", weights.head.weight, table);
  }
}

std::shared_ptr<const nn::Decoder> make_llama_decoder(std::shared_ptr<const LlamaTensors> weights) {
  return std::make_shared<LlamaDecoder>(std::move(weights));
}

}  // namespace qfs::architectures

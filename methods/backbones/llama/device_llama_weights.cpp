#include "methods/backbones/llama/device_llama_weights.h"

#include <utility>

#include "methods/backbones/torch_runtime.h"
#include "methods/kernels/cpu_kernels.h"

namespace qfs::backbones {

namespace {

struct Target {
  at::Device device;
  at::ScalarType type;

  at::Tensor matrix(const Matrix& source) const {
    const at::Tensor full = at::empty({source.rows, source.columns}, at::kFloat);
    float* out = full.mutable_data_ptr<float>();
    for (int64_t row = 0; row < source.rows; ++row) {
      kernels::cpu_kernels().expand(source.type, source.row(row), source.columns,
                                    out + row * source.columns);
    }
    return full.to(device, type);
  }
  at::Tensor vector(const std::vector<float>& source) const {
    return source.empty() ? at::Tensor() : at::tensor(source).to(device, type);
  }
};

}  // namespace

at::Tensor embed(const DeviceLlamaWeights& weights, const at::Tensor& ids) {
  const at::Tensor states = weights.embedding.index_select(0, ids);
  if (!weights.config.embedding_norm) return states;
  return apply(weights.embedding_norm, states, LlamaConfig::kEmbeddingNormEps);
}

Result<std::shared_ptr<const DeviceLlamaWeights>> copy_to_device(const LlamaWeights& weights,
                                                                 at::Device device,
                                                                 at::ScalarType type) {
  using Copied = Result<std::shared_ptr<const DeviceLlamaWeights>>;
  return guarded("copying weights to " + device.str(), [&]() -> Copied {
    const Target target{device, type};
    auto copy = std::make_shared<DeviceLlamaWeights>();
    copy->config = weights.config;
    copy->embedding = target.matrix(weights.embedding);
    copy->embedding_norm = {target.vector(weights.embedding_norm),
                            target.vector(weights.embedding_norm_bias)};
    for (const LlamaLayer& layer : weights.layers) {
      copy->layers.push_back({target.vector(layer.attention_norm), target.matrix(layer.qkv),
                              target.matrix(layer.attention_output), target.vector(layer.mlp_norm),
                              target.matrix(layer.gate_up), target.matrix(layer.down),
                              target.vector(layer.qkv_bias), target.vector(layer.output_bias),
                              target.vector(layer.gate_up_bias), target.vector(layer.down_bias)});
    }
    copy->output_norm = target.vector(weights.output_norm);
    const bool tied = weights.head.data == weights.embedding.data;
    copy->head = tied ? copy->embedding : target.matrix(weights.head);
    copy->cosines = weights.cosines.to(device);
    copy->sines = weights.sines.to(device);
    return std::shared_ptr<const DeviceLlamaWeights>(std::move(copy));
  });
}

}  // namespace qfs::backbones

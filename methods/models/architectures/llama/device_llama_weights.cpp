#include "methods/models/architectures/llama/device_llama_weights.h"

#include <utility>

#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/nn/device/device_copier.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::architectures {

namespace {

class Copier {
 public:
  Copier(at::Device device, at::ScalarType type) : copier_(device, type) {}

  at::Tensor matrix(const nn::Matrix& source) {
    const auto expand = kernels::cpu_kernels().expand;
    return copier_.matrix(
        source.rows, source.columns, [&](int64_t first, int64_t count, float* out) {
          for (int64_t row = first; row < first + count; ++row, out += source.columns) {
            expand(source.type, source.row(row), source.columns, out);
          }
        });
  }
  at::Tensor vector(const std::vector<float>& source) {
    return source.empty() ? at::Tensor() : copier_.tensor(at::tensor(source));
  }

 private:
  nn::DeviceCopier copier_;
};

}  // namespace

at::Tensor embed(const DeviceLlamaWeights& weights, const at::Tensor& ids) {
  const at::Tensor states = weights.embedding.index_select(0, ids);
  if (!weights.config.embedding_norm) return states;
  return nn::apply(weights.embedding_norm, states, LlamaConfig::kEmbeddingNormEps);
}

Result<std::shared_ptr<const DeviceLlamaWeights>> copy_to_device(const LlamaWeights& weights,
                                                                 at::Device device,
                                                                 at::ScalarType type) {
  using Copied = Result<std::shared_ptr<const DeviceLlamaWeights>>;
  return nn::guarded("copying weights to " + device.str(), [&]() -> Copied {
    Copier target(device, type);
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
    return std::shared_ptr<const DeviceLlamaWeights>(std::move(copy));
  });
}

}  // namespace qfs::architectures

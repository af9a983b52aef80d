#include "methods/models/architectures/llama/llama_network.h"

#include <string>
#include <utility>

#include "methods/models/architectures/llama/cpu_llama.h"
#include "methods/models/architectures/llama/llama_bfloat16.h"
#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/architectures/llama/llama_work.h"
#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/nn/device/decoder_network.h"

namespace qfs::architectures {

namespace {

using LoadedLlama = Result<std::shared_ptr<const LlamaWeights>>;

class LlamaNetwork final : public nn::Network {
 public:
  /// `variant` tells copies of its weights from those of the checkpoint as it is.
  explicit LlamaNetwork(std::shared_ptr<const LlamaWeights> weights, std::string variant = "")
      : weights_(std::move(weights)),
        shape_(shape_of(weights_->config)),
        variant_(std::move(variant)) {}

  const nn::SequenceShape& shape() const override { return shape_; }

  Result<std::unique_ptr<nn::SequenceModel>> open(const RuntimeOptions& runtime,
                                                  const std::string& digest,
                                                  ResourceCache& cache) const override {
    if (runtime.device == "cpu") return open_on_cpu(runtime, digest, cache);
    return nn::open_copy(runtime, digest + variant_, cache, copying());
  }

  Result<std::shared_ptr<const nn::Decoder>> decoder(const RuntimeOptions& runtime,
                                                     const std::string& digest,
                                                     ResourceCache& cache) const override {
    return nn::sequence_copy(runtime, digest + variant_, cache, copying());
  }

  Result<std::shared_ptr<const nn::Decoder>> reader(const RuntimeOptions& runtime,
                                                    const std::string& digest,
                                                    ResourceCache& cache) const override {
    if (runtime.device != "cpu" || runtime.dtype != "float32") {
      return decoder(runtime, digest, cache);
    }
    return cache.get<nn::Decoder>("weights:" + digest + variant_ + ":cpu:packed",
                                  [&]() -> Result<std::shared_ptr<const nn::Decoder>> {
                                    auto views = packed_views(*weights_);
                                    if (!views.ok()) return views.error();
                                    return make_llama_decoder(*std::move(views));
                                  });
  }

  Result<std::shared_ptr<const nn::Network>> extended(int64_t positions) const override {
    const LlamaConfig& c = weights_->config;
    if (positions < c.context) {
      return invalid_argument("'positions' are " + std::to_string(positions) +
                              "; the backbone's window has " + std::to_string(c.context));
    }
    if (c.rope.type == "dynamic") {
      return invalid_argument(
          "'positions' beyond a window behind which the backbone's rotations change");
    }
    auto more = std::make_shared<LlamaWeights>(*weights_);
    more->config.context = positions;
    return std::shared_ptr<const nn::Network>(
        std::make_shared<LlamaNetwork>(std::move(more), ":positions=" + std::to_string(positions)));
  }

  nn::ElementBytes element_bytes(const RuntimeOptions& runtime) const override {
    nn::ElementBytes bytes = nn::Network::element_bytes(runtime);
    if (runtime.device == "cpu") bytes.caches = nn::ElementBytes().caches;
    return bytes;
  }

  nn::ModelWork work(const nn::ElementBytes& bytes) const override {
    return llama_work(*weights_, bytes);
  }

 private:
  nn::CopyWeights copying() const {
    return [this](at::Device device,
                  at::ScalarType type) -> Result<std::shared_ptr<const nn::Decoder>> {
      auto copy = copy_to_device(*weights_, device, type);
      if (!copy.ok()) return copy.error();
      return make_llama_decoder(*std::move(copy));
    };
  }

  Result<std::unique_ptr<nn::SequenceModel>> open_on_cpu(const RuntimeOptions& runtime,
                                                         const std::string& digest,
                                                         ResourceCache& cache) const {
    if (runtime.dtype != "bfloat16") return make_cpu_model(weights_);
    const auto rounded = cache.get<LlamaWeights>("weights:" + digest + variant_ + ":cpu:bfloat16",
                                                 [&] { return rounded_to_bfloat16(weights_); });
    if (!rounded.ok()) return rounded.error();
    return make_cpu_model(*rounded, kernels::has_bfloat16_products());
  }

  std::shared_ptr<const LlamaWeights> weights_;
  nn::SequenceShape shape_;
  std::string variant_;
};

Result<std::shared_ptr<const nn::Network>> as_network(LoadedLlama weights) {
  if (!weights.ok()) return weights.error();
  return make_llama_network(*std::move(weights));
}

Result<nn::ModelOutline> outline_of(const Result<LlamaConfig>& config) {
  if (!config.ok()) return config.error();
  return nn::ModelOutline{
      .shape = shape_of(*config), .cache_elements = config->cache_elements(), .keeps_packed = true};
}

}  // namespace

nn::SequenceShape shape_of(const LlamaConfig& config) {
  return {.vocabulary = config.vocabulary,
          .context = config.context,
          .widths = {.layers = config.layers,
                     .hidden = config.hidden,
                     .heads = config.heads,
                     .kv_heads = config.kv_heads,
                     .head_dim = config.head_dim,
                     .intermediate = config.intermediate}};
}

std::shared_ptr<const nn::Network> make_llama_network(std::shared_ptr<const LlamaWeights> weights) {
  return std::make_shared<LlamaNetwork>(std::move(weights));
}

Result<nn::ModelOutline> outline_llama_folder(const checkpoints::ModelDirectory& directory) {
  return outline_of(read_llama_config(directory));
}

Result<nn::ModelOutline> outline_llama_gguf(
    const std::shared_ptr<const checkpoints::GgufFile>& file) {
  return outline_of(read_llama_config(*file));
}

Result<std::shared_ptr<const nn::Network>> load_llama_folder(
    const checkpoints::ModelDirectory& directory) {
  return as_network(load_llama_weights(directory));
}

Result<std::shared_ptr<const nn::Network>> load_llama_gguf(
    const std::shared_ptr<const checkpoints::GgufFile>& file) {
  return as_network(load_llama_weights(file));
}

}  // namespace qfs::architectures

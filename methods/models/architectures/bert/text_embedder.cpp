#include "methods/models/architectures/bert/text_embedder.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "methods/models/architectures/bert/cpu_encoder.h"
#include "methods/models/architectures/bert/text_inputs.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/registry/registry.h"

namespace qfs::architectures {

namespace {

class FolderEmbedder final : public TextEmbedder {
 public:
  FolderEmbedder(std::shared_ptr<const EncoderWeights> weights, TextInputs inputs,
                 const EmbedderOptions& options)
      : encoder_(std::move(weights), options.layer, options.threads), inputs_(std::move(inputs)) {}

  int64_t width() const override { return encoder_.config().hidden; }

  Result<TextTokens> tokens(std::string_view text) const override { return inputs_.tokens(text); }

  Status embed(std::span<const std::vector<int32_t>* const> texts,
               std::span<float* const> outs) override {
    return encoder_.encode(texts, outs);
  }

 private:
  CpuEncoder encoder_;
  TextInputs inputs_;
};

/// Others of read_encoder_config have windows, or norms at other places.
constexpr std::string_view kPostNorm[] = {"bart", "bert", "distilbert", "roberta"};

bool reads_bytes(const std::string& model_type) {
  return model_type == "roberta" || model_type == "bart";
}

}  // namespace

Result<std::unique_ptr<TextEmbedder>> TextEmbedder::open(const Resource& model,
                                                         const EmbedderOptions& options,
                                                         ResourceCache& cache) {
  const auto directory = checkpoints::ModelDirectory::open(model.path);
  if (!directory.ok()) return directory.error();
  const auto config = read_encoder_config(*directory);
  if (!config.ok()) return config.error();
  const bool listed = std::ranges::find(kPostNorm, config->model_type) != std::end(kPostNorm);
  if (!listed || config->pre_norm || !config->embedding_norm) {
    return unavailable("'" + model.path + "' is of type " + config->model_type +
                       "; texts are embedded by bart, bert, distilbert and roberta");
  }
  if (options.layer < 0 || options.layer > config->layers) {
    return invalid_argument("there is no layer " + std::to_string(options.layer) + ": '" +
                            model.path + "' has " + std::to_string(config->layers) +
                            " (0 means the embeddings)");
  }
  if (options.prefix_space && !reads_bytes(config->model_type)) {
    return invalid_argument("prefix_space is for byte-level BPE (roberta, bart); '" + model.path +
                            "' is of type " + config->model_type);
  }
  auto inputs = TextInputs::open(model.path, config->max_tokens(), options.prefix_space);
  if (!inputs.ok()) return inputs.error();
  if (Status same = registry::verify_backbone(model); !same.ok()) return same.error();
  auto weights = cache.get<EncoderWeights>("encoder:" + model.digest,
                                           [&] { return load_encoder_weights(*directory); });
  if (!weights.ok()) return weights.error();
  return std::unique_ptr<TextEmbedder>(
      std::make_unique<FolderEmbedder>(*std::move(weights), *std::move(inputs), options));
}

}  // namespace qfs::architectures

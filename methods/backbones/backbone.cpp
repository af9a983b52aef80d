#include "methods/backbones/backbone.h"

#include <utility>

#include "methods/backbones/registry.h"
#include "methods/checkpoints/gguf.h"
#include "methods/checkpoints/gguf_digests.h"
#include "methods/tokenizers/gguf_tokenizer.h"

namespace qfs::backbones {

Result<std::shared_ptr<const Backbone>> open_backbone(const Resource& resource) {
  if (Status status = verify_backbone(resource); !status.ok()) return status.error();
  const auto file = checkpoints::GgufFile::open(resource.path);
  if (!file.ok()) return file.error();
  auto backbone = std::make_shared<Backbone>();
  const auto weights = load_llama_weights(*file);
  if (!weights.ok()) return weights.error();
  backbone->weights = *weights;
  backbone->digest = resource.digest;
  const auto tokenizer = tokenizers::make_gguf_tokenizer(*file);
  if (!tokenizer.ok()) return tokenizer.error();
  backbone->tokenizer = *tokenizer;
  backbone->template_digest = checkpoints::chat_template_digest(**file);
  return std::shared_ptr<const Backbone>(std::move(backbone));
}

Result<std::shared_ptr<const Backbone>> open_backbone(const Resource& resource,
                                                      ResourceCache& cache) {
  return cache.get<Backbone>("backbone:" + resource.digest,
                             [&] { return open_backbone(resource); });
}

}  // namespace qfs::backbones

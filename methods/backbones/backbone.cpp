#include "methods/backbones/backbone.h"

#include <filesystem>
#include <utility>

#include "harness/core/sha256.h"
#include "methods/backbones/registry.h"
#include "methods/checkpoints/gguf.h"
#include "methods/checkpoints/gguf_digests.h"
#include "methods/checkpoints/model_directory.h"
#include "methods/tokenizers/gguf_tokenizer.h"
#include "methods/tokenizers/tokenizer_files.h"

namespace qfs::backbones {

namespace {

Result<std::shared_ptr<const Backbone>> open_folder(const Resource& resource) {
  const auto folder = checkpoints::ModelDirectory::open(resource.path);
  if (!folder.ok()) return folder.error();
  auto backbone = std::make_shared<Backbone>();
  const auto weights = load_llama_weights(*folder);
  if (!weights.ok()) return weights.error();
  backbone->weights = *weights;
  backbone->digest = resource.digest;
  const auto tokenizer = tokenizers::open_tokenizer_files(resource.path);
  if (!tokenizer.ok()) return tokenizer.error();
  backbone->tokenizer = *tokenizer;
  const Result<std::string> chat_template = folder->chat_template();
  if (!chat_template.ok()) return chat_template.error();
  if (!chat_template->empty()) backbone->template_digest = sha256_hex(*chat_template);
  return std::shared_ptr<const Backbone>(std::move(backbone));
}

}  // namespace

Result<std::shared_ptr<const Backbone>> open_backbone(const Resource& resource) {
  if (Status status = verify_backbone(resource); !status.ok()) return status.error();
  std::error_code error;
  if (std::filesystem::is_directory(resource.path, error)) return open_folder(resource);
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

#include "methods/models/architectures/backbone.h"

#include <filesystem>
#include <utility>

#include "methods/models/architectures/architectures.h"
#include "methods/models/checkpoints/gguf.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/registry/registry.h"
#include "methods/models/tokenizers/folders/tokenizer_files.h"
#include "methods/models/tokenizers/gguf/gguf_tokenizer.h"

namespace qfs::architectures {

namespace {

void add_tokenizer_end(Backbone& backbone) {
  if (!backbone.tokenizer) return;
  if (const auto end = backbone.tokenizer->end_of_sequence_id()) {
    backbone.generation.end_ids.push_back(*end);
  }
}

template <class Tokenizer>
Status take_tokenizer(Result<Tokenizer> opened, TokenizerUse use, Backbone& backbone) {
  if (opened.ok()) {
    backbone.tokenizer = *std::move(opened);
  } else {
    backbone.tokenizer_status = opened.error();
  }
  return use == TokenizerUse::optional ? Status() : backbone.tokenizer_status;
}

Result<std::shared_ptr<const Backbone>> open_folder(const Resource& resource, TokenizerUse use) {
  const auto folder = checkpoints::ModelDirectory::open(resource.path);
  if (!folder.ok()) return folder.error();
  auto backbone = std::make_shared<Backbone>();
  const auto network = load_network(*folder);
  if (!network.ok()) return network.error();
  backbone->network = *network;
  backbone->digest = resource.digest;
  Status taken = take_tokenizer(tokenizers::open_tokenizer_files(resource.path), use, *backbone);
  if (!taken.ok()) return taken.error();
  Result<prompting::ChatSettings> chat = prompting::read_chat_settings(*folder);
  if (!chat.ok()) return chat.error();
  backbone->chat = *std::move(chat);
  auto generation = read_generation_defaults(*folder);
  if (!generation.ok()) return generation.error();
  backbone->generation = *std::move(generation);
  if (backbone->generation.end_ids.empty()) add_tokenizer_end(*backbone);
  return std::shared_ptr<const Backbone>(std::move(backbone));
}

}  // namespace

Result<std::shared_ptr<const Backbone>> open_backbone(const Resource& resource, TokenizerUse use) {
  if (Status status = registry::verify_backbone(resource); !status.ok()) return status.error();
  std::error_code error;
  if (std::filesystem::is_directory(resource.path, error)) return open_folder(resource, use);
  const auto file = checkpoints::GgufFile::open(resource.path);
  if (!file.ok()) return file.error();
  auto backbone = std::make_shared<Backbone>();
  const auto network = load_network(*file);
  if (!network.ok()) return network.error();
  backbone->network = *network;
  backbone->digest = resource.digest;
  Status taken = take_tokenizer(tokenizers::make_gguf_tokenizer(*file), use, *backbone);
  if (!taken.ok()) return taken.error();
  backbone->chat = prompting::read_chat_settings(**file);
  add_tokenizer_end(*backbone);
  return std::shared_ptr<const Backbone>(std::move(backbone));
}

Result<std::shared_ptr<const Backbone>> open_backbone(const Resource& resource,
                                                      ResourceCache& cache) {
  return cache.get<Backbone>("backbone:" + resource.digest,
                             [&] { return open_backbone(resource); });
}

}  // namespace qfs::architectures

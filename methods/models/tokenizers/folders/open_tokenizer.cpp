#include "methods/models/tokenizers/folders/open_tokenizer.h"

#include <filesystem>

#include "harness/core/sha256.h"
#include "methods/models/checkpoints/gguf.h"
#include "methods/models/checkpoints/gguf_digests.h"
#include "methods/models/tokenizers/builtin_tokenizers.h"
#include "methods/models/tokenizers/folders/tokenizer_files.h"
#include "methods/models/tokenizers/gguf/gguf_tokenizer.h"

namespace qfs::tokenizers {

namespace {

/// `local:<digest>` resources declare the whole file, registered ones the tokenizer inside it.
Result<std::string> actual_digest(const Resource& resource, const checkpoints::GgufFile& file) {
  if (resource.name.starts_with("local:")) return sha256_file_cached(resource.path);
  return checkpoints::tokenizer_digest(file);
}

/// Other formats are recognised by their names; what has none of them is taken for GGUF.
bool is_gguf(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return false;
  const std::string extension = std::filesystem::path(path).extension().string();
  return extension != ".json" && extension != ".model" && extension != ".txt";
}

Status check_digest(const Resource& resource, const Result<std::string>& digest) {
  if (resource.digest.empty()) return {};
  if (!digest.ok()) return digest.error();
  if (*digest == resource.digest) return {};
  return data_error("the tokenizer in '" + resource.path + "' has the digest " + *digest +
                    ", but '" + resource.name + "' declares " + resource.digest);
}

}  // namespace

Result<std::shared_ptr<const VocabularyTokenizer>> open_vocabulary_tokenizer(
    const Resource& resource) {
  if (resource.path.empty()) {
    return invalid_argument("the tokenizer '" + resource.name + "' has no vocabulary of ids");
  }
  if (!is_gguf(resource.path)) {
    if (Status status = check_digest(resource, tokenizer_files_digest(resource.path));
        !status.ok()) {
      return status.error();
    }
    return open_tokenizer_files(resource.path);
  }
  const auto file = checkpoints::GgufFile::open(resource.path);
  if (!file.ok()) return file.error();
  if (Status status = check_digest(resource, actual_digest(resource, **file)); !status.ok()) {
    return status.error();
  }
  return make_gguf_tokenizer(*file);
}

Result<std::shared_ptr<const Tokenizer>> open_tokenizer(const Resource& resource) {
  if (std::shared_ptr<const Tokenizer> builtin = make_builtin_tokenizer(resource.name))
    return builtin;
  auto tokenizer = open_vocabulary_tokenizer(resource);
  if (!tokenizer.ok()) return tokenizer.error();
  return std::shared_ptr<const Tokenizer>(*std::move(tokenizer));
}

Result<std::shared_ptr<const Tokenizer>> open_tokenizer(const Resource& resource,
                                                        ResourceCache& cache) {
  return cache.get<Tokenizer>("tokenizer:" + resource.name + ":" + resource.digest,
                              [&] { return open_tokenizer(resource); });
}

}  // namespace qfs::tokenizers

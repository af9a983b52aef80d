#include "methods/models/tokenizers/folders/tokenizer_files.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "methods/models/checkpoints/checkpoint.h"
#include "methods/models/checkpoints/gguf.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/tokenizers/folders/folder_json.h"
#include "methods/models/tokenizers/folders/vocabulary_files.h"
#include "methods/models/tokenizers/gguf/gguf_tokenizer.h"
#include "methods/models/tokenizers/sentence_piece/llama_pieces.h"
#include "methods/models/tokenizers/sentence_piece/sentence_piece.h"
#include "methods/models/tokenizers/settings/tokenizer_config.h"

namespace qfs::tokenizers {

namespace {

namespace fs = std::filesystem;
using Opened = Result<std::shared_ptr<const VocabularyTokenizer>>;

constexpr uint64_t kMaxFileBytes = uint64_t{256} << 20;

bool exists(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

Opened open_json(const std::string& path, const TokenizerConfig& config) {
  const Result<std::string> text = read_file(path, kMaxFileBytes);
  if (!text.ok()) return text.error();
  return make_folder_json(*text, path, config);
}

Opened open_model(const std::string& path, const TokenizerConfig& config) {
  const Result<std::string> bytes = read_file(path, kMaxFileBytes);
  if (!bytes.ok()) return bytes.error();
  if (is_tiktoken(*bytes)) return make_tiktoken(*bytes, path);
  const Result<SentencePieceFile> file = read_sentence_piece_file(*bytes, path);
  if (!file.ok()) return file.error();
  if (is_llama_pieces(*file, config)) return make_llama_pieces(*file, path, config);
  return make_sentence_piece(*bytes, *file, path, config);
}

Opened open_merges(const std::string& folder, const TokenizerConfig& config) {
  const Result<std::string> vocabulary = read_file(folder + "/vocab.json", kMaxFileBytes);
  if (!vocabulary.ok()) return vocabulary.error();
  const Result<std::string> merges = read_file(folder + "/merges.txt", kMaxFileBytes);
  if (!merges.ok()) return merges.error();
  return make_vocabulary_and_merges(*vocabulary, *merges, folder + "/merges.txt", config);
}

Opened open_lines(const std::string& path, const TokenizerConfig& config) {
  const Result<std::string> lines = read_file(path, kMaxFileBytes);
  if (!lines.ok()) return lines.error();
  return make_word_piece_lines(*lines, path, config);
}

Opened open_folder(const std::string& folder) {
  const Result<TokenizerConfig> config = read_tokenizer_config(folder);
  if (!config.ok()) return config.error();
  if (exists(folder + "/tokenizer.json")) return open_json(folder + "/tokenizer.json", *config);
  for (const char* name : {"/tokenizer.model", "/spiece.model", "/sentencepiece.bpe.model"}) {
    if (exists(folder + name)) return open_model(folder + name, *config);
  }
  if (exists(folder + "/merges.txt")) return open_merges(folder, *config);
  if (exists(folder + "/vocab.txt")) return open_lines(folder + "/vocab.txt", *config);
  return not_found("'" + folder +
                   "' has no tokenizer: none of tokenizer.json, tokenizer.model, spiece.model, "
                   "vocab.json with merges.txt, vocab.txt");
}

}  // namespace

Opened open_tokenizer_files(const std::string& path) {
  if (is_folder(path)) return open_folder(path);
  const fs::path file(path);
  const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
  if (file.filename() == "vocab.json" || file.filename() == "merges.txt") {
    return open_merges(folder, {});
  }
  if (file.extension() == ".json") return open_json(path, {});
  if (file.extension() == ".model") return open_model(path, {});
  if (file.extension() == ".txt") return open_lines(path, {});
  const auto gguf = checkpoints::GgufFile::open(path);
  if (!gguf.ok()) return gguf.error();
  return make_gguf_tokenizer(*gguf);
}

Result<std::string> tokenizer_files_digest(const std::string& path) {
  if (!is_folder(path)) return sha256_file_cached(path);
  std::vector<std::string> names;
  for (const std::string& name : checkpoints::tokenizer_file_names()) {
    if (exists(path + "/" + name)) names.push_back(name);
  }
  if (names.empty()) return not_found("'" + path + "' has no tokenizer files");
  return checkpoints::files_digest(path, std::move(names));
}

}  // namespace qfs::tokenizers

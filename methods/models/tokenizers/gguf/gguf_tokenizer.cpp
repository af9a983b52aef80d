#include "methods/models/tokenizers/gguf/gguf_tokenizer.h"

#include <string>
#include <utility>

#include "harness/core/utf8.h"
#include "methods/models/tokenizers/bpe/byte_level_bpe.h"
#include "methods/models/tokenizers/gguf/gguf_pipeline.h"
#include "methods/models/tokenizers/gguf/gguf_token_ids.h"

namespace qfs::tokenizers {

namespace {

using checkpoints::GgufFile;

constexpr size_t kMaxVocabulary = size_t{1} << 24;
constexpr int64_t kControlToken = 3;      // llama.cpp: LLAMA_TOKEN_TYPE_CONTROL
constexpr int64_t kUserDefinedToken = 4;  // LLAMA_TOKEN_TYPE_USER_DEFINED

/// The pattern of the kinds that are read here; std::nullopt for those of gguf_pipeline.h.
Result<std::optional<WordPattern>> known_pattern(const GgufFile& file) {
  const Result<std::string_view> model = file.text("tokenizer.ggml.model");
  if (!model.ok()) return model.error();
  if (*model != "gpt2") return std::optional<WordPattern>();
  // Files older than the key were made for GPT-2's own pattern.
  if (file.find("tokenizer.ggml.pre") == nullptr) return std::optional(WordPattern::gpt2);
  const Result<std::string_view> name = file.text("tokenizer.ggml.pre");
  if (!name.ok()) return name.error();
  return word_pattern(*name);
}

Status read_pieces(const GgufFile& file, BpeVocabulary& vocabulary) {
  const Result<std::span<const std::string_view>> pieces = file.texts("tokenizer.ggml.tokens");
  if (!pieces.ok()) return pieces.error();
  if (pieces->empty() || pieces->size() > kMaxVocabulary) {
    return data_error("'" + file.path() + "' has a vocabulary of " +
                      std::to_string(pieces->size()) + " pieces");
  }
  for (size_t id = 0; id < pieces->size(); ++id) {
    if (first_ill_formed_utf8((*pieces)[id])) {
      return data_error("piece " + std::to_string(id) + " of tokenizer.ggml.tokens of '" +
                        file.path() + "' is not valid UTF-8");
    }
  }
  vocabulary.pieces.assign(pieces->begin(), pieces->end());
  vocabulary.special.assign(pieces->size(), false);
  if (file.find("tokenizer.ggml.token_type") == nullptr) return {};
  const Result<std::span<const int64_t>> types = file.integers("tokenizer.ggml.token_type");
  if (!types.ok()) return types.error();
  if (types->size() != pieces->size()) {
    return data_error("'" + file.path() + "' has " + std::to_string(pieces->size()) +
                      " pieces but " + std::to_string(types->size()) + " token types");
  }
  for (size_t id = 0; id < types->size(); ++id) {
    const int64_t type = (*types)[id];
    vocabulary.special[id] = type == kControlToken || type == kUserDefinedToken;
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const VocabularyTokenizer>> make_gguf_tokenizer(
    std::shared_ptr<const GgufFile> file) {
  const Result<std::optional<WordPattern>> pattern = known_pattern(*file);
  if (!pattern.ok()) return pattern.error();
  if (!*pattern) return make_gguf_pipeline(*file);
  BpeVocabulary vocabulary;
  vocabulary.pattern = **pattern;
  if (Status status = read_pieces(*file, vocabulary); !status.ok()) return status.error();
  const Result<std::span<const std::string_view>> merges = file->texts("tokenizer.ggml.merges");
  if (!merges.ok()) return merges.error();
  vocabulary.merges.assign(merges->begin(), merges->end());

  const size_t pieces = vocabulary.pieces.size();
  const auto end = read_token_id(*file, "tokenizer.ggml.eos_token_id", pieces);
  if (!end.ok()) return end.error();
  vocabulary.end_of_sequence_id = *end;
  const Result<bool> add_first = file->boolean_or("tokenizer.ggml.add_bos_token", false);
  if (!add_first.ok()) return add_first.error();
  if (*add_first) {
    const auto first = read_token_id(*file, "tokenizer.ggml.bos_token_id", pieces);
    if (!first.ok()) return first.error();
    vocabulary.first_id = *first;
  }
  vocabulary.storage = std::move(file);
  return make_byte_level_bpe(std::move(vocabulary));
}

}  // namespace qfs::tokenizers

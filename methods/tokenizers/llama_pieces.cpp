#include "methods/tokenizers/llama_pieces.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "methods/tokenizers/pipeline/pipeline_tokenizer.h"

namespace qfs::tokenizers {

namespace {

/// The file's tokens, with what the folder says about them, and those that the folder adds.
Result<std::vector<AddedToken>> all_added_tokens(const PieceList& pieces, const std::string& source,
                                                 const TokenizerConfig& config) {
  std::vector<AddedToken> tokens = added_tokens_of(pieces);
  for (const AddedToken& added : config.added_tokens) {
    const auto id = static_cast<size_t>(added.id);
    const auto found = std::ranges::find(pieces.texts, added.content);
    const bool listed = found != pieces.texts.end();
    const auto piece = static_cast<size_t>(found - pieces.texts.begin());
    if (listed ? piece != id : id < pieces.texts.size()) {
      return data_error("the added token '" + added.content + "' has the id " + std::to_string(id) +
                            (listed ? "; as a piece it has " + std::to_string(piece)
                                    : " of the piece '" + std::string(pieces.texts[id]) + "'"),
                        source);
    }
    std::erase_if(tokens, [&](const AddedToken& token) { return token.id == added.id; });
    tokens.push_back(added);
  }
  return tokens;
}

/// The id of the token named `name` ("bos_token"), `usual` where the folder names none.
Result<int32_t> named_id(const std::vector<AddedToken>& tokens, const PieceList& pieces,
                         const std::string& source, const TokenizerConfig& config,
                         const std::string& name, const std::string& usual) {
  std::string text = config.token(name).value_or("");
  if (text.empty()) text = usual;
  const auto added = std::ranges::find(tokens, text, &AddedToken::content);
  if (added != tokens.end()) return added->id;
  const auto piece = std::ranges::find(pieces.texts, text);
  if (piece != pieces.texts.end()) return static_cast<int32_t>(piece - pieces.texts.begin());
  return data_error("the " + name + " '" + text + "' is no token", source);
}

}  // namespace

PrependScheme llama_prepend_scheme(const TokenizerConfig& config) {
  if (!config.add_prefix_space.value_or(true)) return PrependScheme::never;
  return config.legacy.value_or(false) ? PrependScheme::always : PrependScheme::first;
}

bool is_llama_pieces(const SentencePieceFile& file, const TokenizerConfig& config) {
  const std::string_view name = config.base_class();
  const bool llama = name == "LlamaTokenizer" || name == "CodeLlamaTokenizer";
  return llama && file.bpe && !file.normalizes;
}

Result<std::shared_ptr<const VocabularyTokenizer>> make_llama_pieces(
    const SentencePieceFile& file, const std::string& source, const TokenizerConfig& config) {
  auto model = make_scored_bpe(file.pieces, file.unknown, source);
  if (!model.ok()) return model.error();
  auto tokens = all_added_tokens(file.pieces, source, config);
  if (!tokens.ok()) return tokens.error();
  PipelineParts parts;
  parts.model = *std::move(model);
  const PrependScheme scheme = llama_prepend_scheme(config);
  parts.pre_tokenizer = make_metaspace(std::string(kSpaceMark), scheme, false);
  parts.decoder = scored_bpe_decoder(scheme != PrependScheme::never);
  const auto id_of = [&](const char* name, const char* usual) {
    return named_id(*tokens, file.pieces, source, config, name, usual);
  };
  const Result<int32_t> end = id_of("eos_token", "</s>");
  if (end.ok()) parts.end_of_sequence_id = *end;
  std::optional<int32_t> before;
  std::optional<int32_t> after;
  if (config.add_bos_token.value_or(true)) {
    const Result<int32_t> begin = id_of("bos_token", "<s>");
    if (!begin.ok()) return begin.error();
    before = *begin;
  }
  if (config.add_eos_token.value_or(false)) {
    if (!end.ok()) return end.error();
    after = *end;
  }
  parts.input_template = template_around(before, after);
  parts.added_tokens = *std::move(tokens);
  return make_pipeline_tokenizer(std::move(parts));
}

}  // namespace qfs::tokenizers

#include "methods/models/tokenizers/pipeline/piece_vocabulary.h"

#include <algorithm>
#include <utility>

#include "methods/models/tokenizers/pipeline/metaspace.h"

namespace qfs::tokenizers {

Result<VocabularyPtr> vocabulary_of(
    const PieceVocabulary& pieces, const std::string& source,
    const std::function<std::string(std::string_view, size_t)>& written) {
  std::vector<std::pair<std::string, int64_t>> entries;
  for (size_t id = pieces.texts.size(); id-- > 0;) {
    entries.emplace_back(written(pieces.texts[id], id), static_cast<int64_t>(id));
  }
  Result<VocabularyPtr> vocabulary = Vocabulary::make(std::move(entries));
  if (!vocabulary.ok()) return data_error(vocabulary.error().message, source);
  return vocabulary;
}

std::vector<AddedToken> added_tokens_of(const PieceVocabulary& pieces) {
  std::vector<AddedToken> tokens;
  for (size_t id = 0; id < pieces.texts.size(); ++id) {
    const PieceType type = pieces.type(id);
    const bool user_defined = type == PieceType::user_defined;
    if (!user_defined && type != PieceType::control && type != PieceType::unknown) continue;
    AddedToken token{static_cast<int32_t>(id), std::string(pieces.texts[id])};
    token.special = !user_defined;
    token.normalized = false;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

Result<ModelPtr> make_scored_bpe(const PieceVocabulary& pieces, std::optional<int32_t> unknown,
                                 const std::string& source) {
  const Result<VocabularyPtr> vocabulary = vocabulary_of(pieces, source);
  if (!vocabulary.ok()) return vocabulary.error();
  if (pieces.scores.size() != pieces.texts.size()) {
    return data_error("'" + source + "' has no score for each piece of its tokenizer");
  }
  std::vector<double> distinct = pieces.scores;
  std::sort(distinct.begin(), distinct.end(), std::greater<>());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<std::optional<int32_t>> ranks;
  for (size_t id = 0; id < pieces.texts.size(); ++id) {
    const auto at =
        std::lower_bound(distinct.begin(), distinct.end(), pieces.scores[id], std::greater<>());
    const bool made = pieces.type(id) == PieceType::normal;
    ranks.push_back(made ? std::optional(static_cast<int32_t>(at - distinct.begin()))
                         : std::nullopt);
  }
  BpeOptions options;
  options.byte_fallback = true;
  options.fuse_unk = true;
  if (unknown) options.unk_token = std::string(pieces.texts[static_cast<size_t>(*unknown)]);
  return make_bpe(*vocabulary, merges_of_ranked_pieces(**vocabulary, ranks), std::move(options));
}

DecoderPtr scored_bpe_decoder(bool prefixed) {
  return make_decoder_sequence(
      {make_replace_decoder(make_text_pattern(std::string(kMetaspace)), " "),
       make_byte_fallback_decoder(), make_fuse_decoder(),
       make_strip_decoder(" ", prefixed ? 1 : 0, 0)});
}

}  // namespace qfs::tokenizers

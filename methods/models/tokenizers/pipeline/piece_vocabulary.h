// PieceVocabulary: the pieces of a tokenizer as GGUF and SentencePiece files list them, by id, with
// types and scores, and what is made of them.
//
// Called by the openers of these files. Texts are views into the file. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/tokenizers/pipeline/added_tokens.h"
#include "methods/models/tokenizers/pipeline/decoder.h"
#include "methods/models/tokenizers/pipeline/model.h"

namespace qfs::tokenizers {

/// Numbers of sentencepiece_model.proto; llama.cpp's are the same.
enum class PieceType { normal = 1, unknown, control, user_defined, unused, byte };

struct PieceVocabulary {
  std::vector<std::string_view> texts;
  std::vector<PieceType> types;  ///< empty: all are normal
  std::vector<double> scores;    ///< empty when the file has none

  PieceType type(size_t id) const { return types.empty() ? PieceType::normal : types[id]; }
};

/// The vocabulary with each piece as `written(piece, id)` has it. Equal pieces (files pad with
/// them) keep the first id in front. `data`: there are too many.
Result<VocabularyPtr> vocabulary_of(
    const PieceVocabulary& pieces, const std::string& source,
    const std::function<std::string(std::string_view, size_t)>& written =
        [](std::string_view piece, size_t /*id*/) { return std::string(piece); });

/// Control, unknown and user-defined pieces; all but the last kind are special.
std::vector<AddedToken> added_tokens_of(const PieceVocabulary& pieces);

/// SentencePiece's BPE: every way to make a piece of two ranks as the piece, by its score; what
/// cannot be made is bytes, or `unknown`. `data`: there is not a score for each piece.
Result<ModelPtr> make_scored_bpe(const PieceVocabulary& pieces, std::optional<int32_t> unknown,
                                 const std::string& source);

/// Its texts: marks are spaces, bytes are joined, the space in front goes if `prefixed`.
DecoderPtr scored_bpe_decoder(bool prefixed);

}  // namespace qfs::tokenizers

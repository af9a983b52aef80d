// How the ids of a model follow from the pieces of its SentencePiece file: classes of tokenizers
// put tokens of their own before and behind the pieces.
//
// Called by make_sentence_piece. Pure; thread-safe. Sources: transformers 4.57,
// tokenization_pegasus.py, tokenization_mbart.py and tokenization_mbart50.py.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/tokenizers/settings/tokenizer_config.h"

namespace qfs::tokenizers {

struct SentencePieceLayout {
  int32_t shift = 0;                                    ///< from a piece's number to its id
  std::map<int32_t, int32_t> moved;                     ///< numbers of pieces with another id
  std::map<std::string, int32_t, std::less<>> special;  ///< ids of control tokens
  std::vector<int32_t> before;                          ///< what a text is read with
  std::vector<int32_t> after;
  std::optional<int32_t> end;  ///< of a generated text
};

/// The layout of the class that `config` names, of a file with `pieces`; nothing where the pieces'
/// numbers are the ids. `data`: `src_lang` is no language of the class.
/// `unavailable`: a PegasusTokenizer with another offset than 103.
Result<std::optional<SentencePieceLayout>> sentence_piece_layout(const TokenizerConfig& config,
                                                                 int32_t pieces);

}  // namespace qfs::tokenizers

#include "methods/models/tokenizers/sentence_piece/sentence_piece.h"

namespace qfs::tokenizers {

Result<std::shared_ptr<const VocabularyTokenizer>> make_sentence_piece(
    std::string_view /*model*/, const SentencePieceFile& /*file*/, const std::string& source,
    const TokenizerConfig& /*config*/) {
  return unavailable("this build reads no SentencePiece models; use the model's tokenizer.json",
                     source);
}

}  // namespace qfs::tokenizers

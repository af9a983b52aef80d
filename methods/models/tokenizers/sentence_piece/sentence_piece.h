// SentencePiece models (tokenizer.model, spiece.model), through the sentencepiece library.
//
// Called by open_tokenizer_files. The library is in every build but the wheel, where opening is
// `unavailable`. Thread-safe. Control symbols are never made from text; user-defined ones are, by
// the library.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "methods/models/tokenizers/sentence_piece/sentence_piece_file.h"
#include "methods/models/tokenizers/settings/tokenizer_config.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

/// `model` is the whole file, `file` what was read of it. Ids are those of the class of the
/// tokenizer (sentence_piece_layout.h), else the numbers of the pieces; there BOS and EOS are put
/// around a text when tokenizer_config.json says so, and BOS also when it says nothing but names
/// LlamaTokenizer or BlueLMTokenizer. Special tokens that the folder adds have the ids that it
/// gives them. `data`: the library does not read the file, or the folder gives a token another id.
/// `unavailable`: what the library does not do, added tokens inside texts and `add_prefix_space`
/// false. Each stretch of a chat has a mark in front whatever `legacy` says (llama_pieces.h holds
/// it for the files that it reads).
Result<std::shared_ptr<const VocabularyTokenizer>> make_sentence_piece(
    std::string_view model, const SentencePieceFile& file, const std::string& source,
    const TokenizerConfig& config);

}  // namespace qfs::tokenizers

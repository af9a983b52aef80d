// Tokenizers in the files that came before tokenizer.json.
//
// Called by open_tokenizer_files and by the GGUF reader. Texts are whole files; `source` names them
// in errors, whose place is "file:line". Pure; thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "methods/models/tokenizers/settings/tokenizer_config.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

/// vocab.json and merges.txt of GPT-2, RoBERTa, BART and LED: byte-level BPE. With <s> and </s> in
/// the vocabulary texts are put between them as those models expect; <mask> takes the space before.
/// Without them `add_bos_token` and `add_eos_token` hold.
Result<std::shared_ptr<const VocabularyTokenizer>> make_vocabulary_and_merges(
    std::string_view vocabulary_json, std::string_view merges, const std::string& source,
    const TokenizerConfig& config);

/// vocab.txt of BERT: one WordPiece a line. Lower case unless `do_lower_case` is false.
Result<std::shared_ptr<const VocabularyTokenizer>> make_word_piece_lines(
    std::string_view lines, const std::string& source, const TokenizerConfig& config);

/// The tiktoken file of Llama 3 (base64 piece and rank a line), with its special tokens. Others are
/// `unavailable`: the file does not say how words are cut.
Result<std::shared_ptr<const VocabularyTokenizer>> make_tiktoken(std::string_view lines,
                                                                 const std::string& source);

/// Whether a text looks like one.
bool is_tiktoken(std::string_view text);

}  // namespace qfs::tokenizers

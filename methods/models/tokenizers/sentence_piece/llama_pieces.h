// SentencePiece files of the class LlamaTokenizer (tokenizer.model of LLaMA, Vicuna, Mistral), read
// as transformers 5.23 does without the library: `legacy`, `add_prefix_space`, `add_bos_token` and
// `add_eos_token` of tokenizer_config.json hold, and tokens that the folder adds are found in
// texts.
//
// Called by open_tokenizer_files. Thread-safe. Source: transformers 5.23, tokenization_llama.py;
// but as in sentencepiece and transformers 4, pieces rank by their scores (5.23: by their ids,
// which differs for runs of spaces in LLaMA 2's file), texts never make pieces of bytes or control
// pieces, and without `add_bos_token` BOS is prepended, as the class documents.
#pragma once

#include <memory>
#include <string>

#include "harness/api/result.h"
#include "methods/models/tokenizers/pipeline/pre_tokenizer.h"
#include "methods/models/tokenizers/sentence_piece/sentence_piece_file.h"
#include "methods/models/tokenizers/settings/tokenizer_config.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

/// Where the class puts a mark in front of a text, by `add_prefix_space` and `legacy`.
PrependScheme llama_prepend_scheme(const TokenizerConfig& config);

/// Whether the class is LlamaTokenizer and the file one of BPE that leaves characters as they are.
bool is_llama_pieces(const SentencePieceFile& file, const TokenizerConfig& config);

/// `data`: an added token has the id of another piece, or BOS or EOS is no token.
Result<std::shared_ptr<const VocabularyTokenizer>> make_llama_pieces(const SentencePieceFile& file,
                                                                     const std::string& source,
                                                                     const TokenizerConfig& config);

}  // namespace qfs::tokenizers

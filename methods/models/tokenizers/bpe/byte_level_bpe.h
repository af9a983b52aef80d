// ByteLevelBpe: byte-pair encoding over bytes with a fixed vocabulary and ranked merges, as GPT-2
// and its descendants use.
//
// Made from a vocabulary that a checkpoint carries (gguf_tokenizer.h). Instances are thread-safe; a
// bounded cache of words sits behind a mutex. Algorithm: Sennrich et al. 2016; equal to the BPE
// model of the Hugging Face tokenizers library without an unknown token (a byte that has no token
// is left out).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/tokenizers/bpe/word_splitter.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

/// What a checkpoint says about its byte-level BPE. Views point into `storage`.
struct BpeVocabulary {
  std::vector<std::string_view> pieces;  ///< by id, in the byte-to-character alphabet of GPT-2
  std::vector<bool> special;             ///< by id: control tokens, never made from plain text
  std::vector<std::string_view> merges;  ///< "left right", best first
  WordPattern pattern = WordPattern::gpt2;
  std::optional<int32_t> end_of_sequence_id;
  std::optional<int32_t> first_id;      ///< put before a text
  std::shared_ptr<const void> storage;  ///< keeps the views alive
};

/// Builds the tokenizer. `data`: a piece occurs twice, a merge is malformed or names unknown
/// pieces.
Result<std::shared_ptr<const VocabularyTokenizer>> make_byte_level_bpe(BpeVocabulary vocabulary);

}  // namespace qfs::tokenizers

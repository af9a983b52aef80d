// Pre-tokenizers of byte-level BPE: cut a text into the pieces inside which merges happen.
//
// Used by ByteLevelBpe. Hand-written equivalents of the published regular expressions over code
// points with ICU's character properties, linear in the text. Pure; thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

namespace qfs::tokenizers {

enum class WordPattern {
  gpt2,    ///< the pattern of GPT-2's encoder.py
  smollm,  ///< every \p{N} is its own piece; what lies between is cut by the GPT-2 pattern
};

/// The pattern behind a value of `tokenizer.ggml.pre`; std::nullopt for one this program lacks.
std::optional<WordPattern> word_pattern(std::string_view name);

/// Called for each piece in order; the pieces cover the text.
using PieceVisitor = std::function<void(std::string_view piece)>;

/// GPT-2: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// (Radford et al. 2019, encoder.py). In `smollm` the look-ahead sees the end of the text before a
/// digit, so a run of spaces there stays one piece.
void split_words(WordPattern pattern, std::string_view text, const PieceVisitor& visit);

}  // namespace qfs::tokenizers

// Sentences and words of Chinese text: what rouge-zh counts by default, and what extractive methods
// select from and match.
//
// Thread-safe. Any bytes are accepted; words fail only where ICU has no word rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"

namespace qfs {

/// Pieces of `text` in order; together they are the text without its '\n'. A sentence ends after a
/// run of 。！？； with the closing quotes and brackets behind it, and at '\n'.
std::vector<std::string_view> split_chinese_sentences(std::string_view text);

/// The words of each sentence in order, by ICU: NFKC, case folded, without white space and without
/// punctuation and symbols.
Result<std::vector<std::string>> chinese_words(std::string_view text);

}  // namespace qfs

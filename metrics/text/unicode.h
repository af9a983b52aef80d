// Code points of UTF-8 texts and the few properties of them that the metrics ask for (ICU).
//
// Called by the segmenters, the set-based profiles and the check for dropped letters. Any bytes are
// accepted: an ill-formed one reads as U+FFFD. Thread-safe; `nfkc` fails only as ICU does.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/api/result.h"

namespace qfs::metrics {

struct CodePoint {
  char32_t value = 0;
  size_t bytes = 0;  ///< at least 1
};

/// The code point that starts at `offset` < text.size().
CodePoint code_point_at(std::string_view text, size_t offset);

/// What Python's str.split() and the \s of its regular expressions take for white space.
bool is_python_space(char32_t c);

bool is_letter(char32_t c);       ///< general category L*
bool is_punctuation(char32_t c);  ///< general category P* or S*
bool is_han(char32_t c);          ///< script Han

/// Normalisation form KC.
Result<std::string> nfkc(std::string_view text);

/// Appends the full case folding of `text` to `folded`.
void append_case_folded(std::string_view text, std::string& folded);

}  // namespace qfs::metrics

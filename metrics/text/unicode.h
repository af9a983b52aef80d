// Code points of UTF-8 texts and the few properties of them that the metrics ask for (ICU).
//
// Called by the segmenters, Punkt, the set-based profiles and the check for dropped letters. Any
// bytes are accepted: an ill-formed one reads as U+FFFD. Thread-safe; `nfkc` fails only as ICU
// does.
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
bool is_upper(char32_t c);        ///< property Uppercase, as Python's str.isupper of one character
bool is_lower(char32_t c);        ///< property Lowercase
bool is_decimal_digit(char32_t c);   ///< general category Nd, the \d of Python's expressions
bool is_word_character(char32_t c);  ///< the \w of Python's expressions
bool is_unicode_word_character(char32_t c);  ///< the \w of UTS 18, annex C

/// Normalisation form KC.
Result<std::string> nfkc(std::string_view text);

/// Appends the full lower-case mapping of `text`, Python's str.lower(), to `lower`.
void append_lower_case(std::string_view text, std::string& lower);

void append_utf8(char32_t c, std::string& text);

/// Appends the full case folding of `text` to `folded`.
void append_case_folded(std::string_view text, std::string& folded);

}  // namespace qfs::metrics

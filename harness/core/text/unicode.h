// Code points of UTF-8 texts and their properties (ICU).
//
// Called by readers, metrics and methods. The character classes are those of Python's str and
// regular expressions, because the reference tools are written in it. Any bytes are accepted: an
// ill-formed one reads as U+FFFD. Thread-safe, cannot fail.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qfs {

struct CodePoint {
  char32_t value = 0;
  size_t bytes = 0;  ///< at least 1
};

/// The code point that starts at `offset` < text.size().
CodePoint code_point_at(std::string_view text, size_t offset);

std::u32string to_code_points(std::string_view text);
std::string to_utf8(std::u32string_view text);
void append_utf8(char32_t c, std::string& text);

bool is_python_space(char32_t c);  ///< \s, and what str.split() splits at
/// As Python's str.strip().
std::string_view python_stripped(std::string_view text);
bool is_decimal_digit(char32_t c);           ///< general category Nd, \d
bool is_word_character(char32_t c);          ///< \w
bool is_unicode_word_character(char32_t c);  ///< the \w of UTS 18, annex C
bool is_letter(char32_t c);                  ///< general category L*
bool is_upper(char32_t c);        ///< property Uppercase, as Python's str.isupper of one character
bool is_lower(char32_t c);        ///< property Lowercase
bool is_punctuation(char32_t c);  ///< general category P* or S*
bool is_han(char32_t c);          ///< script Han

/// What the code points of a piece of text are, taken together.
enum class PieceKind {
  space,        ///< nothing, or white space alone
  punctuation,  ///< punctuation and symbols, perhaps with white space
  word,         ///< anything else is in it
};
PieceKind piece_kind(std::string_view piece);

}  // namespace qfs

// Unicode operations of the readers (ICU): case, normalisation, and the character classes of
// Python's regular expressions. Input is well-formed UTF-8. Thread-safe; ill-formed input gives
// U+FFFD.
#pragma once

#include <string>
#include <string_view>

namespace qfs::datasets {

/// Full, locale-independent lower case, as Python's str.lower.
std::string lower_case(std::string_view text);

/// Normalisation form C, for identifiers.
std::string nfc(std::string_view text);

std::u32string to_code_points(std::string_view text);
std::string to_utf8(std::u32string_view text);

bool is_space(char32_t c);      ///< \s
bool is_digit(char32_t c);      ///< \d
bool is_word_char(char32_t c);  ///< \w

}  // namespace qfs::datasets

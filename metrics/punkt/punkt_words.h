// The characters and words of Punkt: what NLTK's PunktLanguageVars says in regular expressions.
//
// Called by PunktSplitter. Offsets are bytes of UTF-8 text; an ill-formed byte is a character like
// U+FFFD. Pure; thread-safe; cannot fail.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace qfs::metrics {

/// Which release's expressions. Up to 3.6.5 the last mark of a run without white space that
/// something can follow is looked at, with the whole run before it; since then every mark is, with
/// the word before it. From 3.10 on, curly quotes and guillemets end words and close
/// sentences as straight ones do, and the expressions run in the package `regex` instead of
/// Python's `re`: U+001C to U+001F are no white space, \w has marks and no numeric symbols such as
/// '²'.
enum class PunktRules { nltk_3_6, nltk_3_9, nltk_3_10 };

/// Bytes of the character at `at`, if it cannot be inside a word (_re_non_word_chars); else 0.
size_t punkt_non_word(std::string_view text, size_t at, PunktRules rules);

/// Bytes of the character at `at`, if it belongs to the sentence before it
/// (re_boundary_realignment); else 0.
size_t punkt_closer(std::string_view text, size_t at, PunktRules rules);

/// Bytes of the white space character at `at` (\s), else 0.
size_t punkt_space(std::string_view text, size_t at, PunktRules rules);

/// [^\W\d]
bool punkt_letter(char32_t c, PunktRules rules);

/// Appends the words of a line (text without '\n'); they are views into it.
void append_punkt_words(std::string_view line, PunktRules rules,
                        std::vector<std::string_view>& words);

}  // namespace qfs::metrics

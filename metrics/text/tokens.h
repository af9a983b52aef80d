// Tokens of the rouge_score 0.1.2 profile: lower-cased runs of [a-z0-9], found byte by byte.
//
// Called by the text encoder of metrics/rouge and by extractive methods. rouge_score lower-cases
// with Python's full Unicode mapping and then treats everything outside a-z0-9 as a separator.
// Exactly two non-ASCII characters lower-case to something with an ASCII letter: U+212A KELVIN SIGN
// (to "k") and U+0130 (to "i" and a combining dot, which separates); every other byte >= 0x80
// separates. Stateless and thread-safe; cannot fail. Tokens are not stemmed here (see
// vocabulary.h).
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace qfs::metrics {

/// The lower-case form of an ASCII letter or digit, 0 for every other byte.
constexpr std::array<char, 256> make_token_characters() {
  std::array<char, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<size_t>(c)] = static_cast<char>(c);
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<size_t>(c)] = static_cast<char>(c - 'A' + 'a');
  for (int c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = static_cast<char>(c);
  return table;
}
inline constexpr std::array<char, 256> kTokenCharacters = make_token_characters();

/// Calls `visit(std::string_view)` for every token of `text` in order. The view lives in `buffer`
/// and is valid during the call only.
template <class Visit>
void for_each_token(std::string_view text, std::string& buffer, Visit&& visit) {
  constexpr std::string_view kKelvin = "\xE2\x84\xAA";
  constexpr std::string_view kDottedI = "\xC4\xB0";
  buffer.clear();
  const auto flush = [&] {
    if (!buffer.empty()) visit(std::string_view(buffer));
    buffer.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char lower = kTokenCharacters[static_cast<unsigned char>(text[i])];
    if (lower != 0) {
      buffer.push_back(lower);
    } else if (text[i] == kKelvin[0] && text.substr(i, kKelvin.size()) == kKelvin) {
      buffer.push_back('k');
      i += kKelvin.size() - 1;
    } else if (text[i] == kDottedI[0] && text.substr(i, kDottedI.size()) == kDottedI) {
      buffer.push_back('i');
      flush();
      i += kDottedI.size() - 1;
    } else {
      flush();
    }
  }
  flush();
}

}  // namespace qfs::metrics

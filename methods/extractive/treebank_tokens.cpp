#include "methods/extractive/treebank_tokens.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <array>

#include "methods/extractive/abbreviations.h"

namespace qfs::extractive {
namespace {

using String = std::u32string;
using View = std::u32string_view;

bool is_space(char32_t c) { return u_isUWhiteSpace(static_cast<UChar32>(c)) != 0; }
bool is_digit(char32_t c) { return u_isdigit(static_cast<UChar32>(c)) != 0; }
bool is_one_of(char32_t c, View set) { return set.find(c) != View::npos; }

/// \w: letters, numbers of every kind and the underscore.
bool is_word(char32_t c) {
  const auto type = u_charType(static_cast<UChar32>(c));
  return c == U'_' || u_isalnum(static_cast<UChar32>(c)) != 0 || type == U_LETTER_NUMBER ||
         type == U_OTHER_NUMBER;
}

bool has_at(View text, size_t position, View part) {
  return text.substr(position, part.size()) == part;
}

void append_padded(String& out, View part) {
  out += U' ';
  out += part;
  out += U' ';
}

/// Rewrites `text` from left to right: `step(text, i, out)` appends to `out` and returns how many
/// characters it consumed, or 0 to have one character copied.
template <class Step>
String rewrite(View text, Step step) {
  String out;
  out.reserve(text.size() + 16);
  for (size_t i = 0; i < text.size();) {
    const size_t consumed = step(text, i, out);
    if (consumed == 0) out += text[i];
    i += std::max<size_t>(consumed, 1);
  }
  return out;
}

String pad_each(View text, View characters) {
  return rewrite(text, [&](View s, size_t i, String& out) -> size_t {
    if (!is_one_of(s[i], characters)) return 0;
    append_padded(out, s.substr(i, 1));
    return 1;
  });
}

size_t run_length(View text, size_t begin, char32_t c) {
  size_t end = begin;
  while (end < text.size() && text[end] == c) ++end;
  return end - begin;
}

String pad_part(View text, View part) {
  return rewrite(text, [&](View s, size_t i, String& out) -> size_t {
    if (!has_at(s, i, part)) return 0;
    append_padded(out, part);
    return part.size();
  });
}

String open_quotes(View text) {
  String s = rewrite(text, [](View t, size_t i, String& out) -> size_t {
    const size_t length = t[i] == U'`' ? run_length(t, i, U'`') : is_one_of(t[i], U"«“‘„");
    if (length > 0) append_padded(out, t.substr(i, length));
    return length;
  });
  if (s.starts_with(U'"')) s.replace(0, 1, U"``");
  s = pad_part(s, U"``");
  s = rewrite(s, [](View t, size_t i, String& out) -> size_t {
    if (!is_one_of(t[i], U" ([{<")) return 0;
    const size_t quote = has_at(t, i + 1, U"\"") ? 1 : has_at(t, i + 1, U"''") ? 2 : 0;
    if (quote == 0) return 0;
    out += t[i];
    out += U" `` ";
    return 1 + quote;
  });
  // A quote before a single letter that does not begin a clitic.
  return rewrite(s, [](View t, size_t i, String& out) -> size_t {
    if (t[i] != U'\'' || i + 1 >= t.size() || !is_word(t[i + 1])) return 0;
    if (i + 2 < t.size() && is_word(t[i + 2])) return 0;
    if (is_one_of(t[i + 1], U"mtsd")) return 0;
    out += U"' ";
    out += t[i + 1];
    return 2;
  });
}

/// The full stop that ends the sentence, with closing quotes and brackets after it.
String split_final_stop(View text) {
  constexpr View kClosers = U"])}>\"'»”’ ";
  size_t end = text.size();
  while (end > 0 && (is_one_of(text[end - 1], kClosers) || is_space(text[end - 1]))) --end;
  String s(text);
  if (end < 2 || s[end - 1] != U'.' || s[end - 2] == U'.') return s;
  s.insert(end, U" ");
  s.insert(end - 1, U" ");
  return s;
}

String punctuation(View text) {
  String s = split_final_stop(text);
  s = rewrite(s, [](View t, size_t i, String& out) -> size_t {
    if (!is_one_of(t[i], U":,")) return 0;
    const bool last = i + 1 == t.size();
    if (!last && is_digit(t[i + 1])) return 0;
    append_padded(out, t.substr(i, 1));
    if (last) return 1;
    out += t[i + 1];
    return 2;
  });
  s = rewrite(s, [](View t, size_t i, String& out) -> size_t {
    const size_t dots = run_length(t, i, U'.');
    if (dots < 2) {
      out += t.substr(i, dots);
      return dots;
    }
    append_padded(out, t.substr(i, dots));
    return dots;
  });
  s = pad_each(s, U";@#$%&?!");
  s = rewrite(s, [](View t, size_t i, String& out) -> size_t {
    if (t[i] == U'\'' || !has_at(t, i + 1, U"' ")) return 0;
    out += t[i];
    out += U" ' ";
    return 3;
  });
  return pad_part(pad_each(s, U"*[](){}<>"), U"--");
}

/// One of `clitics` before a blank, after a character that is neither quote nor blank.
template <size_t N>
String split_clitics(View text, const std::array<View, N>& clitics) {
  return rewrite(text, [&](View t, size_t i, String& out) -> size_t {
    if (t[i] == U'\'' || t[i] == U' ') return 0;
    for (View clitic : clitics) {
      if (!has_at(t, i + 1, clitic) || !has_at(t, i + 1 + clitic.size(), U" ")) continue;
      out += t[i];
      append_padded(out, clitic);
      return 2 + clitic.size();
    }
    return 0;
  });
}

String close_quotes(View text) {
  String s = pad_each(text, U"»”’");
  s = rewrite(s, [](View t, size_t i, String& out) -> size_t {
    if (t[i] != U'"') return 0;
    out += U" '' ";
    return 1;
  });
  s = rewrite(s, [](View t, size_t i, String& out) -> size_t {
    if (is_space(t[i]) || !has_at(t, i + 1, U"''")) return 0;
    out += t[i];
    out += U" '' ";
    return 3;
  });
  s = split_clitics(s, std::array<View, 4>{U"'s", U"'m", U"'d", U"'"});
  return split_clitics(s, std::array<View, 4>{U"'ll", U"'re", U"'ve", U"n't"});
}

/// A word that the script writes as two.
struct Contraction {
  View first, second;
  bool before_space = false;  ///< white space must follow; otherwise any end of a word
};

constexpr std::array<Contraction, 8> kWords = {{{U"can", U"not"},
                                                {U"d", U"'ye"},
                                                {U"gim", U"me"},
                                                {U"gon", U"na"},
                                                {U"got", U"ta"},
                                                {U"lem", U"me"},
                                                {U"more", U"'n"},
                                                {U"wan", U"na", true}}};
constexpr std::array<Contraction, 2> kAfterBlank = {{{U"'t", U"is"}, {U"'t", U"was"}}};

template <size_t N>
String split_contractions(View text, const std::array<Contraction, N>& contractions) {
  return rewrite(text, [&](View t, size_t i, String& out) -> size_t {
    for (const auto& [first, second, before_space] : contractions) {
      if (!has_at(t, i, first) || !has_at(t, i + first.size(), second)) continue;
      const bool begins =
          first[0] == U'\'' ? i > 0 && t[i - 1] == U' ' : i == 0 || !is_word(t[i - 1]);
      const size_t end = i + first.size() + second.size();
      const bool ends = end == t.size() || (before_space ? is_space(t[end]) : !is_word(t[end]));
      if (!begins || !ends) continue;
      append_padded(out, first);
      append_padded(out, second);
      return end - i;
    }
    return 0;
  });
}

std::string to_utf8(View text) {
  const auto* code_points = reinterpret_cast<const UChar32*>(text.data());
  std::string utf8;
  icu::UnicodeString::fromUTF32(code_points, static_cast<int32_t>(text.size())).toUTF8String(utf8);
  return utf8;
}

void add_sentence_tokens(View sentence, std::vector<std::string>& tokens) {
  String s = punctuation(open_quotes(sentence));
  s.insert(0, U" ");
  s += U' ';
  s = split_contractions(split_contractions(close_quotes(s), kWords), kAfterBlank);
  for (size_t i = 0; i < s.size();) {
    const size_t begin = i;
    while (i < s.size() && !is_space(s[i])) ++i;
    if (i > begin) tokens.push_back(to_utf8(View(s).substr(begin, i - begin)));
    while (i < s.size() && is_space(s[i])) ++i;
  }
}

/// Whether a sentence ends with this piece between blanks.
bool ends_sentence(View piece) {
  while (!piece.empty() && is_one_of(piece.back(), U"\"')]}»”’")) piece.remove_suffix(1);
  if (piece.empty()) return false;
  if (is_one_of(piece.back(), U"?!")) return true;
  if (piece.back() != U'.') return false;
  piece.remove_suffix(1);
  while (!piece.empty() && !is_word(piece.front())) piece.remove_prefix(1);
  return !is_abbreviation(to_utf8(piece));
}

String lower_case(std::string_view text) {
  icu::UnicodeString utf16 = icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
  utf16.toLower(icu::Locale::getRoot());
  String result;
  for (int32_t i = 0; i < utf16.length(); i = utf16.moveIndex32(i, 1)) {
    result += static_cast<char32_t>(utf16.char32At(i));
  }
  return result;
}

}  // namespace

std::vector<std::string> treebank_tokens(std::string_view text) {
  const String lower = lower_case(text);
  std::vector<std::string> tokens;
  size_t begin = 0;
  for (size_t i = 0; i < lower.size();) {
    const size_t piece = i;
    while (i < lower.size() && !is_space(lower[i])) ++i;
    const bool ends = i > piece && ends_sentence(View(lower).substr(piece, i - piece));
    const size_t end = i;
    while (i < lower.size() && is_space(lower[i])) ++i;
    if (!ends && i < lower.size()) continue;
    if (end > begin) add_sentence_tokens(View(lower).substr(begin, end - begin), tokens);
    begin = i;
  }
  return tokens;
}

}  // namespace qfs::extractive

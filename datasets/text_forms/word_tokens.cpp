#include "datasets/text_forms/word_tokens.h"

#include <algorithm>
#include <array>

#include "harness/core/text/unicode.h"

namespace qfs::datasets {
namespace {

using View = std::u32string_view;

// Punkt decides per period whether it ends a sentence; only periods glued to a word matter here,
// because the Treebank rules separate a period at the end of a sentence and nowhere else.

// Characters at which Punkt ends a word, so that a period before them can end a sentence.
constexpr View kNonWord = U")\";}]*:@'({[!?";
// Closing characters that stay with the sentence they end.
constexpr View kClosers = U"'\")]}";

// Common English abbreviations (months, days, titles, companies, states, units, latin) whose period
// ends no sentence. Punkt's English model keeps neither e.g. nor i.e. nor etc. together, so they
// are not here.
constexpr auto kAbbreviations = std::to_array<View>(
    {U"a.m", U"adm", U"apr",  U"aug",  U"ave", U"bros",  U"co",  U"col",  U"corp",
     U"dec", U"dr",  U"feb",  U"fri",  U"ft",  U"gen",   U"gov", U"inc",  U"jan",
     U"jr",  U"lt",  U"ltd",  U"maj",  U"mr",  U"mrs",   U"ms",  U"nov",  U"oct",
     U"ok",  U"p.m", U"ph.d", U"prof", U"rep", U"sen",   U"sep", U"sept", U"sgt",
     U"sr",  U"st",  U"u.k",  U"u.n",  U"u.s", U"u.s.a", U"vs",  U"wed",  U"yr"});

bool contains(View set, char32_t c) { return set.find(c) != View::npos; }

bool is_abbreviation(View word) {
  size_t hyphen = word.rfind(U'-');
  View last = hyphen == View::npos ? word : word.substr(hyphen + 1);
  return std::ranges::find(kAbbreviations, word) != kAbbreviations.end() ||
         std::ranges::find(kAbbreviations, last) != kAbbreviations.end();
}

bool is_letter(char32_t c) { return is_word_character(c) && !is_decimal_digit(c) && c != U'_'; }

bool is_number(View word) {
  return !word.empty() && std::ranges::any_of(word, is_decimal_digit) &&
         std::ranges::all_of(word, [](char32_t c) {
           return is_decimal_digit(c) || c == U'.' || c == U',' || c == U'-';
         });
}

/// Whether the period at `at`, glued to a word, ends a sentence.
bool ends_sentence(View text, size_t at) {
  size_t next = at + 1;
  if (next == text.size()) return false;  // the end of the text ends it anyway
  if (!is_python_space(text[next]) && !contains(kNonWord, text[next])) return false;
  while (next < text.size() && is_python_space(text[next])) ++next;
  if (next == text.size()) return false;

  size_t begin = at;
  while (begin > 0 && !is_python_space(text[begin - 1]) && !contains(kNonWord, text[begin - 1]))
    --begin;
  // Punkt lets a word begin with an apostrophe: "don't." ends in the word "'t", no initial.
  if (begin > 0 && text[begin - 1] == U'\'') --begin;
  View word = text.substr(begin, at - begin);
  if (is_abbreviation(word)) return false;
  bool initial = word.size() == 1 && is_letter(word.front());
  if (!initial && !is_number(word)) return true;
  // After an initial or a number a small letter continues the sentence.
  return !is_letter(text[next]) && !contains(U";:,.!?", text[next]);
}

/// Whether a sentence ends with the token from `begin` to `end`, which blanks surround.
bool token_ends_sentence(View text, size_t begin, size_t end) {
  const View token = text.substr(begin, end - begin);
  if (token == U"." || token == U"?" || token == U"!") return true;
  return token.ends_with(U'.') && !token.ends_with(U"..") && ends_sentence(text, end - 1);
}

/// The end of the sentence whose period is at `period`: closing quotes and brackets stay with it.
size_t with_closers(View text, size_t period) {
  size_t end = period + 1;
  while (end < text.size() && contains(kClosers, text[end])) ++end;
  bool stays = end == text.size() || is_python_space(text[end]) || text.substr(end, 2) == U"--";
  return stays ? end : period + 1;
}

}  // namespace

std::string join_word_tokens(std::string_view text, TreebankRules rules) {
  const std::u32string points = to_code_points(text);
  View rest = points;
  std::string joined;
  auto add = [&joined, rules](View sentence) {
    std::string tokens = join_treebank_tokens(sentence, rules);
    if (tokens.empty()) return;
    if (!joined.empty()) joined += ' ';
    joined += tokens;
  };
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] != U'.' || rest[i - 1] == U'.' || is_python_space(rest[i - 1])) continue;
    if (!ends_sentence(rest, i)) continue;
    size_t end = with_closers(rest, i);
    add(rest.substr(0, end));
    rest.remove_prefix(end);
    while (!rest.empty() && is_python_space(rest.front())) rest.remove_prefix(1);
    i = 0;
  }
  add(rest);
  return joined;
}

std::vector<std::string> sentence_pieces(std::string_view joined_tokens, TreebankRules rules,
                                         size_t most_tokens) {
  const std::u32string points = to_code_points(joined_tokens);
  const View text = points;
  std::vector<std::string> pieces;
  const auto add = [&](View sentence) {
    const std::string tokens = join_word_tokens(to_utf8(sentence), rules);
    size_t begin = 0;
    size_t count = 0;
    for (size_t i = 0; i <= tokens.size() && !tokens.empty(); ++i) {
      if (i < tokens.size() && (tokens[i] != ' ' || ++count % most_tokens != 0)) continue;
      pieces.push_back(tokens.substr(begin, i - begin));
      begin = i + 1;
    }
  };
  size_t sentence = 0;
  bool ended = false;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(U' ', begin), text.size());
    // One token of closing quotes or brackets stays with the sentence in front of it.
    const bool closes = text.substr(begin, end - begin).find_first_not_of(kClosers) == View::npos;
    if (ended && begin > sentence) {
      const size_t cut = closes ? end : begin;
      add(text.substr(sentence, cut - sentence));
      sentence = std::min(cut + (closes ? 1 : 0), text.size());
    }
    ended = token_ends_sentence(text, begin, end);
    begin = end + 1;
  }
  add(text.substr(sentence));
  return pieces;
}

}  // namespace qfs::datasets

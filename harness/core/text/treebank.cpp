// The rules in NLTK's order: opening quotes, punctuation, brackets, dashes, closing quotes and
// clitics, contractions. Each rule is one pass from left to right over non-overlapping matches, as
// a regular-expression substitution is.
#include "harness/core/text/treebank.h"

#include <array>
#include <utility>

#include "harness/core/text/unicode.h"

namespace qfs {
namespace {

using Text = std::u32string;
using View = std::u32string_view;

bool any_of(View set, char32_t c) { return set.find(c) != View::npos; }

char32_t ascii_lower(char32_t c) { return c >= U'A' && c <= U'Z' ? c - U'A' + U'a' : c; }

bool equals_ignoring_case(View text, size_t at, View lower) {
  if (text.size() - at < lower.size()) return false;
  for (size_t i = 0; i < lower.size(); ++i) {
    if (ascii_lower(text[at + i]) != lower[i]) return false;
  }
  return true;
}

/// \b: whether exactly one side of `at` is a word character.
bool is_word_boundary(View text, size_t at) {
  bool before = at > 0 && is_word_character(text[at - 1]);
  bool after = at < text.size() && is_word_character(text[at]);
  return before != after;
}

/// Surrounds every character of `set` by blanks.
Text pad_each(View text, View set) {
  Text out;
  out.reserve(text.size() + 16);
  for (char32_t c : text) {
    if (any_of(set, c)) {
      (out += U' ') += c;
      out += U' ';
    } else {
      out += c;
    }
  }
  return out;
}

/// Surrounds every occurrence of `from` by blanks, written as `to`.
Text pad_string(View text, View from, View to) {
  Text out;
  size_t copied = 0;
  for (size_t at = text.find(from); at != View::npos; at = text.find(from, copied)) {
    out.append(text.substr(copied, at - copied)).append(U" ").append(to).append(U" ");
    copied = at + from.size();
  }
  return out.append(text.substr(copied));
}

/// Surrounds every run of at least `minimum` characters `c` by blanks.
Text pad_runs(View text, char32_t c, size_t minimum) {
  Text out;
  out.reserve(text.size() + 16);
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && text[end] == c) ++end;
    if (end - i >= minimum) {
      out.append(U" ").append(end - i, c).append(U" ");
      i = end;
    } else if (end > i) {
      out.append(end - i, c);
      i = end;
    } else {
      out += text[i++];
    }
  }
  return out;
}

Text opening_quotes(Text text, TreebankRules rules) {
  text = pad_runs(pad_each(text, U"«“‘„"), U'`', 1);
  if (text.starts_with(U'"')) text.replace(0, 1, U"``");
  text = pad_string(text, U"``", U"``");

  Text quoted;  // an opening bracket or blank before " or '' makes it an opening quote
  for (size_t i = 0; i < text.size(); ++i) {
    quoted += text[i];
    if (!any_of(U" ([{<", text[i])) continue;
    size_t length = 0;
    if (text.compare(i + 1, 1, U"\"") == 0) length = 1;
    if (text.compare(i + 1, 2, U"''") == 0) length = 2;
    if (length > 0) quoted += U" `` ";
    i += length;
  }

  const View clitics = rules == TreebankRules::nltk_3_6_2 ? U"mtsd" : U"mtsdn";
  Text out;  // an apostrophe before a single letter that is no clitic stands alone
  for (size_t i = 0; i < quoted.size(); ++i) {
    out += quoted[i];
    if (quoted[i] != U'\'' || i + 1 == quoted.size()) continue;
    char32_t next = quoted[i + 1];
    if (!is_word_character(next) || any_of(clitics, ascii_lower(next))) continue;
    if (!is_word_boundary(quoted, i + 2)) continue;
    (out += U' ') += next;
    ++i;
  }
  return out;
}

/// Separates a final period, which only closing brackets and quotes may follow.
Text final_period(Text text) {
  size_t end = text.size();
  while (end > 0 && is_python_space(text[end - 1])) --end;
  size_t closers = end;
  while (closers > 0 && any_of(U"])}>\"'»”’ ", text[closers - 1])) --closers;
  if (closers < 2 || text[closers - 1] != U'.' || text[closers - 2] == U'.') return text;
  Text out = text.substr(0, closers - 1);
  out += U" . ";
  out.append(text, closers, end - closers).append(U" ");
  return out;
}

/// Separates commas and colons that no digit follows.
Text commas_and_colons(View text) {
  Text out;
  for (size_t i = 0; i < text.size(); ++i) {
    char32_t c = text[i];
    bool mark = c == U':' || c == U',';
    if (mark && i + 1 < text.size() && !is_decimal_digit(text[i + 1])) {
      ((out += U' ') += c) += U' ';
      out += text[++i];
    } else if (mark && i + 1 == text.size()) {
      ((out += U' ') += c) += U' ';
    } else {
      out += c;
    }
  }
  return out;
}

/// Separates an apostrophe that ends a word.
Text closing_apostrophes(View text) {
  Text out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == U'\'' || text.substr(i + 1, 2) != U"' ") continue;
    out += U" ' ";
    i += 2;
  }
  return out;
}

/// Separates the clitics of `clitics` (each ends a word: a blank follows) from what precedes them.
template <size_t N>
Text split_clitics(View text, const std::array<View, N>& clitics) {
  Text out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == U'\'' || text[i] == U' ') continue;
    for (View clitic : clitics) {
      if (text.substr(i + 1, clitic.size()) != clitic) continue;
      if (text.substr(i + 1 + clitic.size(), 1) != U" ") continue;
      (out += U' ').append(clitic) += U' ';
      i += clitic.size() + 1;
      break;
    }
  }
  return out;
}

/// Separates two apostrophes from what precedes them.
Text split_double_apostrophes(View text) {
  Text out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (is_python_space(text[i]) || text.substr(i + 1, 2) != U"''") continue;
    out += U" '' ";
    i += 2;
  }
  return out;
}

Text closing_quotes(View text, TreebankRules rules) {
  const Text padded = pad_each(text, U"»”’");
  if (rules == TreebankRules::nltk_3_6_2) {
    return split_double_apostrophes(pad_string(padded, U"\"", U"''"));
  }
  return pad_string(pad_string(padded, U"''", U"''"), U"\"", U"''");
}

struct Contraction {
  View first;
  View second;
};

/// Splits `first` + `second` standing as a whole word. `needs_space_after`: white space must
/// follow.
Text split_contraction(View text, Contraction contraction, bool needs_space_after) {
  Text whole = Text(contraction.first).append(contraction.second);
  Text out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + whole.size();
    bool here = equals_ignoring_case(text, i, whole);
    if (here && contraction.first.front() != U' ') here = is_word_boundary(text, i);
    if (here && needs_space_after) {
      here = end < text.size() && is_python_space(text[end]);
    } else if (here) {
      here = is_word_boundary(text, end);
    }
    if (!here) {
      out += text[i++];
      continue;
    }
    size_t middle = i + contraction.first.size();
    out.append(U" ").append(text.substr(i, middle - i)).append(U" ");
    out.append(text.substr(middle, end - middle)).append(U" ");
    i = end;
  }
  return out;
}

Text contractions(Text text) {
  constexpr std::array kWords = {Contraction{U"can", U"not"}, Contraction{U"d", U"'ye"},
                                 Contraction{U"gim", U"me"},  Contraction{U"gon", U"na"},
                                 Contraction{U"got", U"ta"},  Contraction{U"lem", U"me"},
                                 Contraction{U"more", U"'n"}};
  for (const Contraction& word : kWords) text = split_contraction(text, word, false);
  text = split_contraction(text, {U"wan", U"na"}, true);
  text = split_contraction(text, {U" 't", U"is"}, false);
  return split_contraction(text, {U" 't", U"was"}, false);
}

}  // namespace

std::string join_treebank_tokens(View sentence, TreebankRules rules) {
  constexpr std::array<View, 7> kShortClitics = {U"'s", U"'S", U"'m", U"'M", U"'d", U"'D", U"'"};
  constexpr std::array<View, 8> kLongClitics = {U"'ll", U"'LL", U"'re", U"'RE",
                                                U"'ve", U"'VE", U"n't", U"N'T"};
  Text text = final_period(opening_quotes(Text(sentence), rules));
  text = pad_runs(commas_and_colons(text), U'.', 2);
  text = pad_each(text, U";@#$%&");
  text = closing_apostrophes(pad_each(text, U"?!"));
  text = pad_each(pad_each(text, U"*"), U"][(){}<>");
  // Clitics and contractions are found by the blank behind them, also at the end of the sentence.
  text = pad_string(text, U"--", U"--").append(U" ");
  text.insert(0, 1, U' ');
  text = closing_quotes(text, rules);
  text = split_clitics(split_clitics(text, kShortClitics), kLongClitics);
  text = contractions(std::move(text));

  Text tokens;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_python_space(text[i])) continue;
    if (!tokens.empty() && is_python_space(text[i - 1])) tokens += U' ';
    tokens += text[i];
  }
  return to_utf8(tokens);
}

}  // namespace qfs

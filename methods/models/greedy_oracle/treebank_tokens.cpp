#include "methods/models/greedy_oracle/treebank_tokens.h"

#include <algorithm>

#include "harness/core/text/treebank.h"
#include "harness/core/text/unicode.h"
#include "harness/core/text/unicode_forms.h"
#include "methods/models/greedy_oracle/abbreviations.h"

namespace qfs::greedy_oracle {
namespace {

using View = std::u32string_view;

bool is_one_of(char32_t c, View set) { return set.find(c) != View::npos; }

/// Whether a sentence ends with this piece between blanks.
bool ends_sentence(View piece) {
  while (!piece.empty() && is_one_of(piece.back(), U"\"')]}»”’")) piece.remove_suffix(1);
  if (piece.empty()) return false;
  if (is_one_of(piece.back(), U"?!")) return true;
  if (piece.back() != U'.') return false;
  piece.remove_suffix(1);
  while (!piece.empty() && !is_word_character(piece.front())) piece.remove_prefix(1);
  return !is_abbreviation(to_utf8(piece));
}

void add_sentence_tokens(View sentence, std::vector<std::string>& tokens) {
  const std::string joined = join_treebank_tokens(sentence, TreebankRules::nltk_3_6_2);
  for (size_t begin = 0; begin < joined.size();) {
    const size_t end = std::min(joined.find(' ', begin), joined.size());
    tokens.push_back(joined.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

std::vector<std::vector<std::string>> treebank_sentences(std::string_view text) {
  const std::u32string lower = to_code_points(lower_case(text));
  std::vector<std::vector<std::string>> sentences;
  size_t begin = 0;
  for (size_t i = 0; i < lower.size();) {
    const size_t piece = i;
    while (i < lower.size() && !is_python_space(lower[i])) ++i;
    const bool ends = i > piece && ends_sentence(View(lower).substr(piece, i - piece));
    const size_t end = i;
    while (i < lower.size() && is_python_space(lower[i])) ++i;
    if (!ends && i < lower.size()) continue;
    if (end > begin) {
      std::vector<std::string> tokens;
      add_sentence_tokens(View(lower).substr(begin, end - begin), tokens);
      if (!tokens.empty()) sentences.push_back(std::move(tokens));
    }
    begin = i;
  }
  return sentences;
}

std::vector<std::string> treebank_tokens(std::string_view text) {
  std::vector<std::string> tokens;
  for (std::vector<std::string>& sentence : treebank_sentences(text)) {
    tokens.insert(tokens.end(), sentence.begin(), sentence.end());
  }
  return tokens;
}

}  // namespace qfs::greedy_oracle

#include "metrics/surface/query_terms.h"

#include <algorithm>
#include <array>

#include "metrics/text/porter_stemmer.h"

namespace qfs::metrics {
namespace {

constexpr std::array<std::string_view, 148> kFunctionWords = {
    "a",      "about",  "above",     "after",      "again",      "against", "all",    "also",
    "am",     "among",  "an",        "and",        "any",        "are",     "aren't", "as",
    "at",     "be",     "because",   "been",       "before",     "being",   "below",  "between",
    "both",   "but",    "by",        "can",        "can't",      "cannot",  "could",  "did",
    "didn't", "do",     "does",      "doesn't",    "doing",      "don't",   "down",   "during",
    "each",   "either", "for",       "from",       "further",    "had",     "has",    "have",
    "having", "he",     "her",       "here",       "hers",       "herself", "him",    "himself",
    "his",    "how",    "i",         "if",         "in",         "into",    "is",     "isn't",
    "it",     "its",    "itself",    "may",        "me",         "might",   "mine",   "more",
    "most",   "must",   "my",        "myself",     "neither",    "no",      "nor",    "not",
    "of",     "off",    "on",        "once",       "only",       "onto",    "or",     "other",
    "our",    "ours",   "ourselves", "out",        "over",       "own",     "per",    "same",
    "shall",  "she",    "should",    "so",         "some",       "such",    "than",   "that",
    "the",    "their",  "theirs",    "them",       "themselves", "then",    "there",  "these",
    "they",   "this",   "those",     "through",    "to",         "too",     "under",  "until",
    "up",     "upon",   "us",        "very",       "was",        "wasn't",  "we",     "were",
    "what",   "when",   "where",     "which",      "while",      "who",     "whom",   "whose",
    "why",    "will",   "with",      "within",     "without",    "won't",   "would",  "you",
    "your",   "yours",  "yourself",  "yourselves",
};

constexpr std::array<std::string_view, 38> kChineseFunctionWords = {
    "的",     "地",   "得", "了",   "着", "过",   "吗",   "呢",   "吧",   "啊",
    "是",     "在",   "有", "和",   "与", "及",   "或",   "对",   "对于", "关于",
    "把",     "被",   "为", "为了", "从", "到",   "什么", "怎么", "怎样", "如何",
    "为什么", "哪些", "哪", "谁",   "几", "多少", "请",   "这",
};

bool is_ascii_word(std::string_view word) {
  return std::ranges::all_of(
      word, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

std::string plain(std::string_view word) {
  constexpr std::string_view kCurly = "\u2019";
  std::string text(word);
  for (size_t at = text.find(kCurly); at != std::string::npos; at = text.find(kCurly, at)) {
    text.replace(at, kCurly.size(), "'");
  }
  if (text.size() > 2 && text.ends_with("'s")) text.resize(text.size() - 2);
  return text;
}

}  // namespace

bool is_function_word(std::string_view word) {
  return std::ranges::find(kFunctionWords, word) != kFunctionWords.end() ||
         std::ranges::find(kChineseFunctionWords, word) != kChineseFunctionWords.end();
}

std::string term_form(std::string_view word, bool stem) {
  std::string form = plain(word);
  if (stem && form.size() > 3 && is_ascii_word(form)) return porter_nltk_stem(form);
  return form;
}

std::set<std::string> content_terms(const std::vector<std::string_view>& words, bool stem) {
  std::set<std::string> terms;
  for (std::string_view word : words) {
    if (!is_function_word(plain(word))) terms.insert(term_form(word, stem));
  }
  if (!terms.empty()) return terms;
  for (std::string_view word : words) terms.insert(term_form(word, stem));
  return terms;
}

}  // namespace qfs::metrics

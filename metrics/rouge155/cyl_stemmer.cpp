#include "metrics/rouge155/cyl_stemmer.h"

#include <array>
#include <span>

namespace qfs::metrics::rouge155 {
namespace {

bool is_plain_vowel(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

/// What Porter's conditions ask of a stem. With [C](VC){m}[V]: `m`, capped at 2, and whether there
/// is a vowel. A 'y' is a consonant at the start and after a vowel, a vowel after a consonant.
struct Shape {
  int m = 0;
  bool has_vowel = false;
};

Shape shape_of(std::string_view stem) {
  Shape shape;
  bool after_vowel = false;
  for (size_t i = 0; i < stem.size(); ++i) {
    const bool y_as_vowel = stem[i] == 'y' && i > 0 && !after_vowel;
    const bool vowel = is_plain_vowel(stem[i]) || y_as_vowel;
    if (!vowel && after_vowel && shape.m < 2) ++shape.m;
    shape.has_vowel |= vowel;
    after_vowel = vowel;
  }
  return shape;
}

/// The whole stem is consonants, one vowel and one consonant other than w, x and y (*o with m = 1).
bool is_short(std::string_view stem) {
  if (stem.size() < 3 || is_plain_vowel(stem[0])) return false;
  const size_t vowel = stem.size() - 2;
  for (size_t i = 1; i < vowel; ++i) {
    if (is_plain_vowel(stem[i]) || stem[i] == 'y') return false;
  }
  const char last = stem.back();
  return (is_plain_vowel(stem[vowel]) || stem[vowel] == 'y') && !is_plain_vowel(last) &&
         last != 'w' && last != 'x' && last != 'y';
}

/// A doubled letter that loses one: no vowel, and none of l, s, y and z.
bool ends_doubled(std::string_view word) {
  const size_t n = word.size();
  if (n < 2 || word[n - 1] != word[n - 2] || is_plain_vowel(word[n - 1])) return false;
  const char last = word[n - 1];
  return last != 'l' && last != 's' && last != 'y' && last != 'z';
}

std::string_view without_end(const std::string& word, size_t length) {
  return std::string_view(word).substr(0, word.size() - length);
}

void step_1a(std::string& word) {
  if (word.ends_with("sses") || word.ends_with("ies")) {
    word.resize(word.size() - 2);
  } else if (word.ends_with("s") && !word.ends_with("ss")) {
    word.pop_back();
  }
}

void step_1b(std::string& word) {
  if (word.ends_with("eed")) {
    if (shape_of(without_end(word, 3)).m > 0) word.pop_back();
    return;
  }
  const size_t length = word.ends_with("ed") ? 2 : word.ends_with("ing") ? 3 : 0;
  if (length == 0 || !shape_of(without_end(word, length)).has_vowel) return;
  word.resize(word.size() - length);
  if (word.ends_with("at") || word.ends_with("bl") || word.ends_with("iz")) {
    word += 'e';
  } else if (ends_doubled(word)) {
    word.pop_back();
  } else if (is_short(word)) {
    word += 'e';
  }
}

void step_1c(std::string& word) {
  if (word.ends_with("y") && shape_of(without_end(word, 1)).has_vowel) word.back() = 'i';
}

struct Rule {
  std::string_view suffix;
  std::string_view replacement;
};

/// The rule with the longest suffix that the word ends with decides, whether its condition (a
/// measure above `above` of what is left) holds or not.
void apply_longest(std::string& word, std::span<const Rule> rules, int above) {
  const Rule* longest = nullptr;
  for (const Rule& rule : rules) {
    if (!word.ends_with(rule.suffix)) continue;
    if (longest == nullptr || rule.suffix.size() > longest->suffix.size()) longest = &rule;
  }
  if (longest == nullptr) return;
  const size_t length = longest->suffix.size();
  if (shape_of(without_end(word, length)).m <= above) return;
  word.resize(word.size() - length);
  word += longest->replacement;
}

constexpr Rule kStep2[] = {
    {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
    {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"}, {"eli", "e"},     {"ousli", "ous"},
    {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},  {"iveness", "ive"},
    {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"}, {"biliti", "ble"},
    {"logi", "log"},
};

constexpr Rule kStep3[] = {
    {"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
    {"ical", "ic"},  {"ful", ""},   {"ness", ""},
};

constexpr Rule kStep4[] = {
    {"al", ""},   {"ance", ""}, {"ence", ""},  {"er", ""},  {"ic", ""},  {"able", ""},
    {"ible", ""}, {"ant", ""},  {"ement", ""}, {"ou", ""},  {"ism", ""}, {"ate", ""},
    {"iti", ""},  {"ous", ""},  {"ive", ""},   {"ize", ""},
};
constexpr Rule kMent[] = {{"ment", ""}};
constexpr Rule kEnt[] = {{"ent", ""}};

void remove_ion(std::string& word) {
  if (!word.ends_with("sion") && !word.ends_with("tion")) return;
  if (shape_of(without_end(word, 3)).m > 1) word.resize(word.size() - 3);
}

/// Lin's change: three tests one after the other, each on what the one before has left.
void step_4(std::string& word) {
  apply_longest(word, kStep4, 1);
  apply_longest(word, kMent, 1);
  if (word.ends_with("ent")) {
    apply_longest(word, kEnt, 1);
  } else {
    remove_ion(word);
  }
}

void step_5(std::string& word) {
  if (word.ends_with("e")) {
    const std::string_view stem = without_end(word, 1);
    const int m = shape_of(stem).m;
    if (m > 1 || (m == 1 && !is_short(stem))) word.pop_back();
  }
  if (word.ends_with("ll") && shape_of(word).m > 1) word.pop_back();
}

}  // namespace

std::string cyl_stem(std::string_view word) {
  std::string stem(word);
  if (stem.size() < 3) return stem;
  step_1a(stem);
  step_1b(stem);
  step_1c(stem);
  apply_longest(stem, kStep2, 0);
  apply_longest(stem, kStep3, 0);
  step_4(stem);
  step_5(stem);
  return stem;
}

}  // namespace qfs::metrics::rouge155

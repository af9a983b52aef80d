#include "metrics/text/porter_stemmer.h"

#include <array>
#include <span>
#include <utility>

namespace qfs::metrics {
namespace {

bool is_plain_vowel(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

/// Walks the word once and tells for every letter whether it is a consonant. A 'y' is a consonant
/// at the start of a word and after a vowel (1980, section 2).
template <class Visit>
void for_each_letter(std::string_view word, Visit&& visit) {
  bool consonant = false;  // so that a first 'y' becomes a consonant
  for (char c : word) {
    consonant = c == 'y' ? !consonant : !is_plain_vowel(c);
    visit(consonant);
  }
}

/// m of [C](VC){m}[V]: how often a consonant follows a vowel.
int measure(std::string_view word) {
  int count = 0;
  bool after_vowel = false;
  for_each_letter(word, [&](bool consonant) {
    count += consonant && after_vowel;
    after_vowel = !consonant;
  });
  return count;
}

bool contains_vowel(std::string_view word) {
  bool found = false;
  for_each_letter(word, [&](bool consonant) { found |= !consonant; });
  return found;
}

/// Consonant flags of the last three letters as bits: bit 0 is the last letter.
unsigned last_consonants(std::string_view word) {
  unsigned bits = 0;
  for_each_letter(word, [&](bool consonant) { bits = (bits << 1U | unsigned{consonant}) & 7U; });
  return bits;
}

bool ends_double_consonant(std::string_view word) {
  const size_t n = word.size();
  return n >= 2 && word[n - 1] == word[n - 2] && (last_consonants(word) & 1U) != 0;
}

/// *o: consonant, vowel, consonant that is not w, x or y. NLTK also accepts a two-letter word of a
/// vowel and a consonant.
bool ends_cvc(std::string_view word) {
  const unsigned bits = last_consonants(word);
  if (word.size() == 2) return (bits & 3U) == 1U;
  const char last = word.empty() ? 'w' : word.back();
  return word.size() >= 3 && bits == 5U && last != 'w' && last != 'x' && last != 'y';
}

/// The word without its last `length` letters.
std::string_view without_end(const std::string& word, size_t length) {
  return {word.data(), word.size() - length};
}

void replace_end(std::string& word, size_t length, std::string_view replacement) {
  word.resize(word.size() - length);
  word += replacement;
}

struct Rule {
  std::string_view suffix;
  std::string_view replacement;
};

/// Applies the first rule whose suffix matches if the measure of what is left exceeds `above`; a
/// failed condition ends the step all the same. Longer suffixes are listed first.
bool apply_first(std::string& word, std::span<const Rule> rules, int above) {
  for (const Rule& rule : rules) {
    if (!word.ends_with(rule.suffix)) continue;
    if (measure(without_end(word, rule.suffix.size())) <= above) return true;
    replace_end(word, rule.suffix.size(), rule.replacement);
    return true;
  }
  return false;
}

/// Plurals. NLTK: a four-letter "-ies" becomes "-ie" (dies, die), a longer one "-i" (flies, fli).
void step_1a(std::string& word) {
  if (word.ends_with("ies")) {
    replace_end(word, 3, word.size() == 4 ? "ie" : "i");
  } else if (word.ends_with("sses")) {
    replace_end(word, 2, "");
  } else if (word.ends_with("s") && !word.ends_with("ss")) {
    replace_end(word, 1, "");
  }
}

/// What follows a successful removal of "-ed" or "-ing".
void restore_after_removal(std::string& word) {
  if (word.ends_with("at") || word.ends_with("bl") || word.ends_with("iz")) {
    word += 'e';
  } else if (ends_double_consonant(word)) {
    const char last = word.back();
    if (last != 'l' && last != 's' && last != 'z') word.pop_back();
  } else if (measure(word) == 1 && ends_cvc(word)) {
    word += 'e';
  }
}

/// Past tense and participles. NLTK: "-ied" is taken first, four letters to "-ie", longer to "-i".
void step_1b(std::string& word) {
  if (word.ends_with("ied")) {
    replace_end(word, 3, word.size() == 4 ? "ie" : "i");
    return;
  }
  if (word.ends_with("eed")) {
    if (measure(without_end(word, 3)) > 0) word.pop_back();
    return;
  }
  for (std::string_view suffix : {std::string_view("ed"), std::string_view("ing")}) {
    if (!word.ends_with(suffix)) continue;
    if (!contains_vowel(without_end(word, suffix.size()))) continue;
    replace_end(word, suffix.size(), "");
    restore_after_removal(word);
    return;
  }
}

/// y to i. NLTK: only after a consonant, and not when that consonant is the whole stem.
void step_1c(std::string& word) {
  if (!word.ends_with("y")) return;
  const std::string_view stem = without_end(word, 1);
  if (stem.size() > 1 && (last_consonants(stem) & 1U) != 0) word.back() = 'i';
}

constexpr Rule kStep2[] = {
    {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
    {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"}, {"eli", "e"},     {"ousli", "ous"},
    {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},  {"iveness", "ive"},
    {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"}, {"biliti", "ble"},
    {"fulli", "ful"},  // NLTK
};

/// NLTK: a successful "-alli" to "-al" comes first and its result goes through the step again;
/// "-logi" loses its i when the stem *with* its l has a positive measure.
void step_2(std::string& word) {
  if (word.ends_with("alli") && measure(without_end(word, 4)) > 0) replace_end(word, 2, "");
  if (apply_first(word, kStep2, 0)) return;
  if (word.ends_with("logi") && measure(without_end(word, 3)) > 0) {
    word.pop_back();
  }
}

constexpr Rule kStep3[] = {
    {"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
    {"ical", "ic"},  {"ful", ""},   {"ness", ""},
};

constexpr Rule kStep4BeforeIon[] = {
    {"al", ""},   {"ance", ""}, {"ence", ""},  {"er", ""},   {"ic", ""},  {"able", ""},
    {"ible", ""}, {"ant", ""},  {"ement", ""}, {"ment", ""}, {"ent", ""},
};
constexpr Rule kStep4AfterIon[] = {
    {"ou", ""}, {"ism", ""}, {"ate", ""}, {"iti", ""}, {"ous", ""}, {"ive", ""}, {"ize", ""},
};

void step_4(std::string& word) {
  if (apply_first(word, kStep4BeforeIon, 1)) return;
  if (word.ends_with("ion")) {
    const std::string_view stem = without_end(word, 3);
    if (measure(stem) > 1 && (stem.back() == 's' || stem.back() == 't')) word.resize(stem.size());
    return;
  }
  apply_first(word, kStep4AfterIon, 1);
}

void step_5(std::string& word) {
  if (word.ends_with("e")) {
    const std::string_view stem = without_end(word, 1);
    const int m = measure(stem);
    if (m > 1 || (m == 1 && !ends_cvc(stem))) word.pop_back();
  }
  if (word.ends_with("ll") && measure(without_end(word, 1)) > 1) {
    word.pop_back();
  }
}

/// NLTK's table of irregular forms: words that Porter's steps are known to treat badly.
constexpr std::pair<std::string_view, std::string_view> kIrregular[] = {
    {"sky", "sky"},       {"skies", "sky"},       {"dying", "die"},       {"lying", "lie"},
    {"tying", "tie"},     {"news", "news"},       {"inning", "inning"},   {"innings", "inning"},
    {"outing", "outing"}, {"outings", "outing"},  {"canning", "canning"}, {"cannings", "canning"},
    {"howe", "howe"},     {"proceed", "proceed"}, {"exceed", "exceed"},   {"succeed", "succeed"},
};

}  // namespace

std::string porter_nltk_stem(std::string_view word) {
  for (const auto& [form, stem] : kIrregular) {
    if (word == form) return std::string(stem);
  }
  std::string stem(word);
  if (stem.size() <= 2) return stem;
  step_1a(stem);
  step_1b(stem);
  step_1c(stem);
  step_2(stem);
  apply_first(stem, kStep3, 0);
  step_4(stem);
  step_5(stem);
  return stem;
}

}  // namespace qfs::metrics

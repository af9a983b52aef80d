#include "methods/egad/keywords.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "harness/core/rng.h"
#include "harness/core/text/unicode.h"
#include "harness/core/text/unicode_forms.h"
#include "methods/egad/dictionary.h"

namespace qfs::egad {

namespace {

constexpr char32_t kTypographic = U'\u2019';

bool is_apostrophe(char32_t c) { return c == U'\'' || c == kTypographic; }

struct Candidate {
  std::string word;
  int64_t occurrences = 0;
  size_t first = 0;  ///< place among the words
  double score = 0;
};

/// Calls `each(word, occurrence)` for every word of a text, in order.
template <class Each>
void for_words(std::string_view text, const Each& each) {
  const std::u32string points = to_code_points(text);
  int64_t byte = 0;
  for (size_t i = 0; i < points.size();) {
    if (!is_letter(points[i])) {
      byte += static_cast<int64_t>(to_utf8(points.substr(i++, 1)).size());
      continue;
    }
    std::u32string letters;
    for (; i < points.size(); ++i) {
      const bool inner =
          is_apostrophe(points[i]) && i + 1 < points.size() && is_letter(points[i + 1]);
      if (!is_letter(points[i]) && !inner) break;
      letters += points[i];
    }
    std::string surface = to_utf8(letters);
    const int64_t end = byte + static_cast<int64_t>(surface.size());
    std::string lower = lower_case(with_plain_apostrophes(surface));
    each(Word{std::move(lower), std::move(surface)}, Occurrence{byte, end});
    byte = end;
  }
}

std::string most_written(const std::vector<Word>& words, const std::string& lower) {
  std::vector<std::pair<std::string, int64_t>> forms;  // in the order of their first occurrence
  for (const Word& word : words) {
    if (word.lower != lower) continue;
    const auto known =
        std::ranges::find(forms, word.surface, &std::pair<std::string, int64_t>::first);
    if (known == forms.end()) {
      forms.emplace_back(word.surface, 1);
    } else {
      ++known->second;
    }
  }
  return std::ranges::max_element(forms, {}, &std::pair<std::string, int64_t>::second)->first;
}

double score_of(KeywordScore rule, double here, double there, double words, double total) {
  switch (rule) {
    case KeywordScore::ratio:
      return here / there;
    case KeywordScore::tf_idf:
      return here * std::log(total / there);
    case KeywordScore::divergence:
      return here * std::log((here / words) / (there / total));
  }
  return 0;
}

}  // namespace

std::string with_plain_apostrophes(std::string_view word) {
  constexpr std::string_view kBytes = "\xE2\x80\x99";
  std::string plain(word);
  for (size_t at = 0; (at = plain.find(kBytes, at)) != std::string::npos;) {
    plain.replace(at, kBytes.size(), "'");
  }
  return plain;
}

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  for_words(text, [&](Word word, const Occurrence&) { words.push_back(std::move(word)); });
  return words;
}

std::vector<Occurrence> occurrences_of(std::string_view text,
                                       const std::vector<std::string>& keywords) {
  std::vector<Occurrence> found;
  for_words(text, [&](const Word& word, const Occurrence& place) {
    if (std::ranges::count(keywords, word.lower) > 0) found.push_back(place);
  });
  return found;
}

std::vector<std::string> score_names() { return {"ratio", "tf_idf", "divergence"}; }

KeywordScore score_from(std::string_view name) {
  if (name == "tf_idf") return KeywordScore::tf_idf;
  return name == "divergence" ? KeywordScore::divergence : KeywordScore::ratio;
}

std::vector<std::string> keywords_of(std::string_view text, const Dictionary& dictionary,
                                     const KeywordRule& rule) {
  const std::vector<Word> words = words_of(text);
  std::map<std::string, Candidate> by_word;
  double known = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!dictionary.frequency(words[i].lower)) continue;
    Candidate& candidate = by_word[words[i].lower];
    if (candidate.occurrences++ == 0) candidate = {words[i].lower, 1, i, 0};
    ++known;
  }
  std::vector<Candidate> candidates;
  for (auto& [word, candidate] : by_word) {
    if (candidate.occurrences < rule.fewest) continue;
    candidate.score = score_of(rule.score, static_cast<double>(candidate.occurrences),
                               *dictionary.frequency(word), known, dictionary.total());
    candidates.push_back(candidate);
  }
  std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
    if (a.score != b.score) return a.score > b.score;
    if (a.occurrences != b.occurrences) return a.occurrences > b.occurrences;
    return a.first < b.first;
  });
  candidates.resize(std::min(candidates.size(), static_cast<size_t>(rule.k)));
  std::vector<std::string> keywords;
  for (const Candidate& candidate : candidates) {
    keywords.push_back(rule.surface ? most_written(words, candidate.word) : candidate.word);
  }
  return keywords;
}

std::vector<std::string> drawn_words(std::string_view text, int64_t k, uint64_t set,
                                     std::string_view document_id) {
  std::vector<std::string> types;
  for (const Word& word : words_of(text)) types.push_back(word.lower);
  std::ranges::sort(types);
  const auto repeated = std::ranges::unique(types);
  types.erase(repeated.begin(), repeated.end());
  Rng::derived(set, "egad random words of " + std::string(document_id)).shuffle(types);
  types.resize(std::min(types.size(), static_cast<size_t>(k)));
  return types;
}

std::vector<std::string> gibberish(int64_t k, uint64_t set, std::string_view document_id) {
  constexpr uint64_t kCoins = 10;
  constexpr uint64_t kLetters = 26;
  const std::string purpose = "egad gibberish of " + std::string(document_id);
  std::vector<std::string> words;
  for (int64_t i = 0; i < k; ++i) {
    Rng rng = Rng::derived(set, purpose, static_cast<uint64_t>(i));
    std::string& word = words.emplace_back();
    int length = 0;
    while (length == 0) length = std::popcount(rng.below(uint64_t{1} << kCoins));
    while (static_cast<int>(word.size()) < length) {
      word += static_cast<char>('a' + rng.below(kLetters));
    }
  }
  return words;
}

}  // namespace qfs::egad

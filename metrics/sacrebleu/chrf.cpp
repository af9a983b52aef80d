#include "metrics/sacrebleu/chrf.h"

#include <string>

#include "harness/core/text/unicode.h"
#include "harness/core/text/unicode_forms.h"

namespace qfs::metrics {
namespace {

bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

/// Adds a word without its last, or else its first, character if that is ASCII punctuation, and
/// that character.
void add_word(std::string_view word, InternTable& table, std::vector<uint32_t>& words) {
  if (word.size() == code_point_at(word, 0).bytes) {
    words.push_back(table.id(word));
  } else if (is_ascii_punctuation(word.back())) {
    words.push_back(table.id(word.substr(0, word.size() - 1)));
    words.push_back(table.id(word.substr(word.size() - 1)));
  } else if (is_ascii_punctuation(word.front())) {
    words.push_back(table.id(word.substr(0, 1)));
    words.push_back(table.id(word.substr(1)));
  } else {
    words.push_back(table.id(word));
  }
}

int64_t total(const std::vector<CountedGram<kLongestChrfOrder>>& grams) {
  int64_t sum = 0;
  for (const auto& gram : grams) sum += gram.times;
  return sum;
}

}  // namespace

ChrfGrams chrf_grams(std::string_view text, const ChrfOptions& options, InternTable& table) {
  std::string lowered;
  if (options.lower_case) {
    append_lower_case(text, lowered);
    text = lowered;
  }
  std::vector<uint32_t> characters;
  std::vector<uint32_t> words;
  size_t word_begin = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    const bool space = is_python_space(point.value);
    if (!space || options.white_space) characters.push_back(point.value);
    if (space) {
      if (i > word_begin) add_word(text.substr(word_begin, i - word_begin), table, words);
      word_begin = i + point.bytes;
    }
    i += point.bytes;
  }
  if (word_begin < text.size()) add_word(text.substr(word_begin), table, words);
  ChrfGrams grams;
  for (size_t n = 1; n <= options.character_order; ++n) {
    grams.push_back(counted_grams<kLongestChrfOrder>(characters, n));
  }
  for (size_t n = 1; n <= options.word_order; ++n) {
    grams.push_back(counted_grams<kLongestChrfOrder>(words, n));
  }
  return grams;
}

std::vector<double> chrf_counts(const ChrfGrams& candidate, std::span<const ChrfGrams> references,
                                const ChrfOptions& options) {
  std::vector<double> best;
  double best_score = -1;
  for (const ChrfGrams& reference : references) {
    std::vector<double> counts;
    for (size_t order = 0; order < options.orders(); ++order) {
      const int64_t in_candidate = reference[order].empty() ? 0 : total(candidate[order]);
      for (int64_t count : {in_candidate, total(reference[order]),
                            common_grams(candidate[order], reference[order])}) {
        counts.push_back(static_cast<double>(count));
      }
    }
    const double score = chrf_score(counts, options);
    if (score > best_score) {
      best_score = score;
      best = std::move(counts);
    }
  }
  return best;
}

double chrf_score(std::span<const double> counts, const ChrfOptions& options) {
  constexpr double kEpsilon = 1e-16;
  const auto factor = static_cast<double>(options.beta * options.beta);
  double sum_of_f = 0;
  double precisions = 0;
  double recalls = 0;
  double orders = 0;
  for (size_t order = 0; order < options.orders(); ++order) {
    const double candidate = counts[3 * order];
    const double reference = counts[3 * order + 1];
    const double matches = counts[3 * order + 2];
    const double precision = candidate > 0 ? matches / candidate : kEpsilon;
    const double recall = reference > 0 ? matches / reference : kEpsilon;
    const double divisor = factor * precision + recall;
    sum_of_f += divisor > 0 ? (1 + factor) * precision * recall / divisor : kEpsilon;
    if (candidate > 0 && reference > 0) {
      precisions += precision;
      recalls += recall;
      orders += 1;
    }
  }
  if (options.epsilon) return 100 * sum_of_f / static_cast<double>(options.orders());
  if (orders == 0) return 0;
  const double precision = precisions / orders;
  const double recall = recalls / orders;
  if (precision + recall == 0) return 0;
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

}  // namespace qfs::metrics

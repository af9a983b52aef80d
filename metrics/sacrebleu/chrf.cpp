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

/// Adds n-grams of the candidate, of the reference and of both for n = 1 to `orders`. A reference
/// without one of them takes those of the candidate out.
void add_counts(const std::vector<uint32_t>& candidate, const std::vector<uint32_t>& reference,
                size_t orders, GramMatcher& matcher, std::vector<double>& counts) {
  std::vector<int64_t> matches(orders);
  matcher.match(candidate, {&reference, 1}, matches);
  const auto grams = [](const std::vector<uint32_t>& ids, size_t n) {
    return ids.size() < n ? 0.0 : static_cast<double>(ids.size() - n + 1);
  };
  for (size_t n = 1; n <= orders; ++n) {
    const double in_reference = grams(reference, n);
    counts.push_back(in_reference > 0 ? grams(candidate, n) : 0);
    counts.push_back(in_reference);
    counts.push_back(static_cast<double>(matches[n - 1]));
  }
}

}  // namespace

ChrfText chrf_text(std::string_view text, const ChrfOptions& options, InternTable& table) {
  std::string lowered;
  if (options.lower_case) {
    append_lower_case(text, lowered);
    text = lowered;
  }
  ChrfText result;
  result.characters.reserve(text.size());
  const auto end_word = [&](size_t begin, size_t end) {
    if (options.word_order == 0 || begin == end) return;
    add_word(text.substr(begin, end - begin), table, result.words);
  };
  size_t word_begin = 0;
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte > ' ' && byte < 0x80) {  // most characters, without a call
      result.characters.push_back(byte);
      ++i;
      continue;
    }
    const CodePoint point = code_point_at(text, i);
    const bool space = is_python_space(point.value);
    if (!space || options.white_space) result.characters.push_back(point.value);
    if (space) {
      end_word(word_begin, i);
      word_begin = i + point.bytes;
    }
    i += point.bytes;
  }
  end_word(word_begin, text.size());
  return result;
}

std::vector<double> chrf_counts(const ChrfText& candidate, std::span<const ChrfText> references,
                                const ChrfOptions& options, GramMatcher& matcher) {
  std::vector<double> best;
  double best_score = -1;
  for (const ChrfText& reference : references) {
    std::vector<double> counts;
    counts.reserve(3 * options.orders());
    add_counts(candidate.characters, reference.characters, options.character_order, matcher,
               counts);
    add_counts(candidate.words, reference.words, options.word_order, matcher, counts);
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

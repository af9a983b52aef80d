#include "metrics/rouge/ngram_score.h"

#include <algorithm>
#include <vector>

namespace qfs::metrics {
namespace {

/// All n-grams of a text, equal ones side by side.
std::vector<std::span<const TokenId>> sorted_ngrams(std::span<const TokenId> tokens, size_t n) {
  std::vector<std::span<const TokenId>> grams;
  for (size_t i = 0; i + n <= tokens.size(); ++i) grams.push_back(tokens.subspan(i, n));
  std::ranges::sort(grams, [](const auto& a, const auto& b) {
    return std::ranges::lexicographical_compare(a, b);
  });
  return grams;
}

}  // namespace

Prf ngram_score(std::span<const TokenId> reference, std::span<const TokenId> candidate, size_t n) {
  const auto ours = sorted_ngrams(reference, n);
  const auto theirs = sorted_ngrams(candidate, n);
  int64_t hits = 0;
  for (size_t i = 0, j = 0; i < ours.size() && j < theirs.size();) {
    if (std::ranges::equal(ours[i], theirs[j])) {
      ++hits, ++i, ++j;
    } else if (std::ranges::lexicographical_compare(ours[i], theirs[j])) {
      ++i;
    } else {
      ++j;
    }
  }
  return make_prf(hits, static_cast<int64_t>(theirs.size()), static_cast<int64_t>(ours.size()));
}

}  // namespace qfs::metrics

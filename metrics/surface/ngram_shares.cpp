#include "metrics/surface/ngram_shares.h"

#include <algorithm>
#include <vector>

namespace qfs::metrics {
namespace {

using Gram = std::array<WordNumber, kLongestShareGram>;  ///< n words, then zeros

/// One distinct n-gram.
struct Counted {
  Gram gram{};
  size_t times = 0;
  bool in_document = false;
};

template <class Visit>
void for_each_gram(const WordNumbers& text, size_t n, Visit&& visit) {
  Gram gram{};
  for (size_t i = 0; i + n <= text.size(); ++i) {
    std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(i), n, gram.begin());
    visit(gram);
  }
}

/// Distinct n-grams in ascending order.
std::vector<Counted> counted_grams(const WordNumbers& text, size_t n) {
  std::vector<Gram> grams;
  for_each_gram(text, n, [&](const Gram& gram) { grams.push_back(gram); });
  std::ranges::sort(grams);
  std::vector<Counted> counted;
  for (const Gram& gram : grams) {
    if (counted.empty() || counted.back().gram != gram) counted.push_back({gram, 0, false});
    ++counted.back().times;
  }
  return counted;
}

double share(size_t part, size_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

GramShares novel_gram_shares(const WordNumbers& text, const WordNumbers& document,
                             GramCount count) {
  GramShares shares{};
  for (size_t n = 1; n <= kLongestShareGram; ++n) {
    std::vector<Counted> grams = counted_grams(text, n);
    for_each_gram(document, n, [&](const Gram& gram) {
      const auto found = std::ranges::lower_bound(grams, gram, {}, &Counted::gram);
      if (found != grams.end() && found->gram == gram) found->in_document = true;
    });
    size_t novel = 0;
    size_t all = 0;
    for (const Counted& gram : grams) {
      const size_t weight = count == GramCount::types ? 1 : gram.times;
      all += weight;
      novel += gram.in_document ? 0 : weight;
    }
    shares[n - 1] = share(novel, all);
  }
  return shares;
}

GramShares repeated_gram_shares(const WordNumbers& text, GramCount count) {
  GramShares shares{};
  for (size_t n = 1; n <= kLongestShareGram; ++n) {
    size_t repeated = 0;
    size_t all = 0;
    for (const Counted& gram : counted_grams(text, n)) {
      const bool types = count == GramCount::types;
      all += types ? 1 : gram.times;
      repeated += types ? (gram.times > 1 ? 1 : 0) : gram.times - 1;
    }
    shares[n - 1] = share(repeated, all);
  }
  return shares;
}

}  // namespace qfs::metrics

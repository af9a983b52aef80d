#include "metrics/surface/ngram_shares.h"

#include <algorithm>
#include <vector>

#include "metrics/text/gram_counts.h"

namespace qfs::metrics {
namespace {

constexpr size_t kLongest = kLongestShareGram;

double share(int64_t part, int64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

GramShares novel_gram_shares(const WordNumbers& text, const WordNumbers& document,
                             GramCount count) {
  GramShares shares{};
  for (size_t n = 1; n <= kLongest; ++n) {
    const auto grams = counted_grams<kLongest>(text, n);
    std::vector<bool> in_document(grams.size());
    for_each_gram<kLongest>(document, n, [&](const auto& gram) {
      const auto found = std::ranges::lower_bound(grams, gram, {}, &CountedGram<kLongest>::gram);
      if (found == grams.end() || found->gram != gram) return;
      in_document[static_cast<size_t>(found - grams.begin())] = true;
    });
    int64_t novel = 0;
    int64_t all = 0;
    for (size_t i = 0; i < grams.size(); ++i) {
      const int64_t weight = count == GramCount::types ? 1 : grams[i].times;
      all += weight;
      novel += in_document[i] ? 0 : weight;
    }
    shares[n - 1] = share(novel, all);
  }
  return shares;
}

GramShares repeated_gram_shares(const WordNumbers& text, GramCount count) {
  GramShares shares{};
  for (size_t n = 1; n <= kLongest; ++n) {
    int64_t repeated = 0;
    int64_t all = 0;
    for (const CountedGram<kLongest>& gram : counted_grams<kLongest>(text, n)) {
      const bool types = count == GramCount::types;
      all += types ? 1 : gram.times;
      repeated += types ? (gram.times > 1 ? 1 : 0) : gram.times - 1;
    }
    shares[n - 1] = share(repeated, all);
  }
  return shares;
}

}  // namespace qfs::metrics

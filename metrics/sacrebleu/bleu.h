// BLEU as sacreBLEU 2.6 computes it: statistics of a segment, and the score of summed statistics.
//
// Called by BleuMetric. Sources: Papineni et al. 2002; Chen & Cherry 2014 for the smoothings; the
// package sacrebleu 2.6.0 for what these leave open: several references clip at the largest count,
// the closest reference length counts (the shorter one of two), and an order without n-grams ends
// the product. Scores lie in 0..100. Pure; cannot fail.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "metrics/text/gram_matcher.h"

namespace qfs::metrics {

inline constexpr size_t kBleuOrder = 4;

enum class BleuSmoothing { exp, floor, add_k, none };

struct BleuScoring {
  BleuSmoothing smoothing = BleuSmoothing::exp;
  double value = 0;              ///< of floor and add-k
  bool effective_order = false;  ///< orders beyond the longest n-gram are left out of the mean
};

/// Counts, of a segment or summed; whole numbers.
struct BleuCounts {
  double candidate_length = 0;
  double reference_length = 0;
  std::array<double, kBleuOrder> matches{};
  std::array<double, kBleuOrder> totals{};
};

using BleuTokens = std::vector<uint32_t>;  ///< ids of tokens, in order

/// `references` is not empty; `matcher` keeps its tables between calls.
BleuCounts bleu_counts(const BleuTokens& candidate, std::span<const BleuTokens> references,
                       GramMatcher& matcher);

double bleu_score(const BleuCounts& counts, const BleuScoring& scoring);

}  // namespace qfs::metrics

// Prf: precision, recall and F of one ROUGE variant, computed as rouge_score 0.1.2 does.
//
// Called by every scorer of this folder. The order of the operations is part of the profile: equal
// counts give bit-equal doubles (IEEE 754 binary64, no contraction). Cannot fail.
#pragma once

#include <algorithm>
#include <cstdint>

namespace qfs::metrics {

struct Prf {
  double precision = 0;
  double recall = 0;
  double f = 0;

  friend bool operator==(const Prf&, const Prf&) = default;
};

/// `hits` of `candidate` and `reference` units. An empty side divides by 1, so the result is 0.
/// Source: rouge_score 0.1.2, rouge_scorer._score_ngrams and scoring.fmeasure.
inline Prf make_prf(int64_t hits, int64_t candidate, int64_t reference) {
  Prf prf;
  prf.precision = static_cast<double>(hits) / static_cast<double>(std::max<int64_t>(candidate, 1));
  prf.recall = static_cast<double>(hits) / static_cast<double>(std::max<int64_t>(reference, 1));
  const double sum = prf.precision + prf.recall;
  if (sum > 0) prf.f = 2 * prf.precision * prf.recall / sum;
  return prf;
}

}  // namespace qfs::metrics

// Several references, one score: per variant the precision, recall and F of the reference with the
// highest F, the first one on ties (score_multi of rouge_score 0.1.2).
//
// Called by every ROUGE that takes the best reference. Pure.
#pragma once

#include "metrics/rouge/prepared_reference.h"

namespace qfs::metrics {

inline void keep_better(Prf& best, const Prf& other) {
  if (other.f > best.f) best = other;
}

/// F is never negative, so that starting from zeros keeps the first reference when all are zero: a
/// zero F has zero precision and recall.
inline void keep_better(RougeScores& best, const RougeScores& other) {
  keep_better(best.rouge1, other.rouge1);
  keep_better(best.rouge2, other.rouge2);
  keep_better(best.rougeL, other.rougeL);
  keep_better(best.rougeLsum, other.rougeLsum);
}

}  // namespace qfs::metrics

// ROUGE-N for any n of rouge_score 0.1.2, over token ids.
//
// Called by the Python package, whose users may ask for rouge3 to rouge9; the usual n = 1 and 2
// have the fast path of PreparedReference, which this agrees with. Stateless; cannot fail.
#pragma once

#include <span>

#include "metrics/rouge/prf.h"
#include "metrics/text/vocabulary.h"

namespace qfs::metrics {

/// `n` >= 1. A text with fewer than n tokens has no n-grams.
Prf ngram_score(std::span<const TokenId> reference, std::span<const TokenId> candidate, size_t n);

}  // namespace qfs::metrics

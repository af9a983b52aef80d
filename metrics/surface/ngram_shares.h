// Shares of a text's n-grams, n = 1 to 4: how many are novel (absent from another text), how many
// are repetitions of earlier ones.
//
// Called by the metrics novel-ngrams and repetition. `types` counts distinct n-grams, as SummEval
// does (Fabbri et al. 2021; package summ-eval, DataStatsMetric): novel = distinct n-grams that the
// document lacks, repeated = distinct n-grams that occur more than once, both divided by the
// distinct n-grams. `tokens` counts occurrences: repeated is then 1 - distinct / all, the seq-rep-n
// of Welleck et al. 2020 (section 6). A text without n-grams has the share 0. Pure; cannot fail.
#pragma once

#include <array>
#include <cstddef>

#include "metrics/surface/token_encoder.h"

namespace qfs::metrics {

inline constexpr size_t kLongestShareGram = 4;
using GramShares = std::array<double, kLongestShareGram>;  ///< [n - 1]

enum class GramCount { types, tokens };

GramShares novel_gram_shares(const WordNumbers& text, const WordNumbers& document, GramCount count);
GramShares repeated_gram_shares(const WordNumbers& text, GramCount count);

}  // namespace qfs::metrics

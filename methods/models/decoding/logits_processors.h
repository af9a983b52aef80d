// Logits processors: which tokens may come next, whatever chooses among them: repeated ones are
// less likely, no repeated n-gram, no end before the minimum, forced tokens at the ends.
//
// Called by searches with logits or log-probabilities. As transformers 5.23 computes them, in its
// order: a forced token gets 0, what is banned minus infinity, and nothing is renormalised. Pure;
// thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "methods/models/decoding/decoding.h"

namespace qfs::decoding {

/// Changes `scores` [vocabulary] for the token after `sequence` (what the row began with and then
/// `produced` tokens).
void apply_logits_processors(const DecodingOptions& options, std::span<const int32_t> sequence,
                             int64_t produced, std::span<float> scores);

}  // namespace qfs::decoding

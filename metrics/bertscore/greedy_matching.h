// Greedy matching of BERTScore (Zhang et al. 2020, section 3): every token of one text with the
// most similar token of the other.
//
// Called by BertScorer for every pair. Pure; thread-safe.
#pragma once

#include <span>

#include "metrics/bertscore/token_vectors.h"

namespace qfs::metrics {

struct BertScores {
  double precision = 0;
  double recall = 0;
  double f = 0;
};

/// bert_score 0.3.13 pads the shorter texts of a batch with tokens of similarity 0, so that there a
/// maximum is never negative; among real tokens it hardly ever is.
struct Padding {
  bool reference = false;
  bool candidate = false;
};

/// Vectors of length 1 and of one width. Special tokens are targets of matches, whatever they
/// weigh. Zeros for an empty text, or for one whose weights are all 0.
BertScores greedy_match(const TokenVectors& reference, std::span<const double> reference_weights,
                        const TokenVectors& candidate, std::span<const double> candidate_weights,
                        Padding padding = {});

}  // namespace qfs::metrics

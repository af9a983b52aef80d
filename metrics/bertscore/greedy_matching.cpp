#include "metrics/bertscore/greedy_matching.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace qfs::metrics {
namespace {

/// Four running sums, so that the additions do not wait for one another.
float dot(std::span<const float> a, std::span<const float> b) {
  float sums[4] = {};
  size_t i = 0;
  for (; i + 4 <= a.size(); i += 4) {
    for (size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Weighted mean; 0 without weight.
double mean_of(std::span<const float> best, std::span<const double> weights) {
  double sum = 0;
  double total = 0;
  for (size_t i = 0; i < best.size(); ++i) {
    sum += weights[i] * double{best[i]};
    total += weights[i];
  }
  return total == 0 ? 0 : sum / total;
}

}  // namespace

BertScores greedy_match(const TokenVectors& reference, std::span<const double> reference_weights,
                        const TokenVectors& candidate, std::span<const double> candidate_weights,
                        Padding padding) {
  if (reference.empty() || candidate.empty()) return {};
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  std::vector<float> of_reference(reference.tokens(), padding.candidate ? 0 : kLowest);
  std::vector<float> of_candidate(candidate.tokens(), padding.reference ? 0 : kLowest);
  for (size_t c = 0; c < candidate.tokens(); ++c) {
    for (size_t r = 0; r < reference.tokens(); ++r) {
      const float similarity = dot(candidate.vector(c), reference.vector(r));
      of_candidate[c] = std::max(of_candidate[c], similarity);
      of_reference[r] = std::max(of_reference[r], similarity);
    }
  }
  BertScores scores;
  scores.precision = mean_of(of_candidate, candidate_weights);
  scores.recall = mean_of(of_reference, reference_weights);
  const double sum = scores.precision + scores.recall;
  scores.f = sum == 0 ? 0 : 2 * scores.precision * scores.recall / sum;
  return scores;
}

}  // namespace qfs::metrics

#include "methods/models/decoding/best_continuations.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qfs::decoding {

namespace {

bool better(const ScoredContinuation& a, const ScoredContinuation& b) {
  if (a.sum != b.sum) return a.sum > b.sum;
  return a.row != b.row ? a.row < b.row : a.token < b.token;
}

}  // namespace

void to_log_probabilities(std::span<float> logits) {
  const double largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  const double shift = largest + std::log(sum);
  for (float& logit : logits) logit = static_cast<float>(logit - shift);
}

std::vector<ScoredContinuation> best_continuations(std::span<const float> log_probabilities,
                                                   std::span<const double> sums, size_t count) {
  // A heap of the best so far, the worst of them in front.
  std::vector<ScoredContinuation> best;
  const size_t vocabulary = log_probabilities.size() / sums.size();
  for (size_t row = 0; row < sums.size(); ++row) {
    const auto before = static_cast<float>(sums[row]);
    for (size_t token = 0; token < vocabulary; ++token) {
      const float sum = before + log_probabilities[row * vocabulary + token];
      if (sum == -std::numeric_limits<float>::infinity()) continue;
      if (best.size() == count && sum <= best.front().sum) continue;
      if (best.size() == count) {
        std::ranges::pop_heap(best, better);
        best.pop_back();
      }
      best.push_back({static_cast<int64_t>(row), static_cast<int32_t>(token), sum});
      std::ranges::push_heap(best, better);
    }
  }
  std::ranges::sort(best, better);
  return best;
}

}  // namespace qfs::decoding

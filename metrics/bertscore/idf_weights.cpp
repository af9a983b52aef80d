#include "metrics/bertscore/idf_weights.h"

#include <cmath>
#include <unordered_set>

namespace qfs::metrics {

void IdfWeights::add_reference(std::span<const int32_t> ids, int64_t times) {
  if (!idf_ || times == 0) return;
  references_ += times;
  for (const int32_t id : std::unordered_set<int32_t>(ids.begin(), ids.end())) {
    holders_[id] += times;
  }
}

std::vector<double> IdfWeights::of(const TokenVectors& text) const {
  std::vector<double> weights;
  weights.reserve(text.tokens());
  for (size_t i = 0; i < text.tokens(); ++i) {
    if (!idf_) {
      weights.push_back(text.special[i] ? 0 : 1);
      continue;
    }
    const auto found = holders_.find(text.ids[i]);
    const int64_t holding = found == holders_.end() ? 0 : found->second;
    weights.push_back(
        std::log(static_cast<double>(references_ + 1) / static_cast<double>(holding + 1)));
  }
  return weights;
}

}  // namespace qfs::metrics

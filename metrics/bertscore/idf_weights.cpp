#include "metrics/bertscore/idf_weights.h"

#include <cmath>
#include <unordered_set>

namespace qfs::metrics {

IdfWeights::IdfWeights(std::span<const std::vector<int32_t>> references) : idf_(true) {
  std::unordered_map<int32_t, int64_t> holders;
  for (const std::vector<int32_t>& ids : references) {
    for (const int32_t id : std::unordered_set<int32_t>(ids.begin(), ids.end())) ++holders[id];
  }
  const auto count = static_cast<double>(references.size());
  unseen_ = std::log(count + 1);
  for (const auto& [id, holding] : holders) {
    weights_[id] = std::log((count + 1) / static_cast<double>(holding + 1));
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
    const auto found = weights_.find(text.ids[i]);
    weights.push_back(found == weights_.end() ? unseen_ : found->second);
  }
  return weights;
}

}  // namespace qfs::metrics

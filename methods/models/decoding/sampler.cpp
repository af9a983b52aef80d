// Sources: transformers 5.23, logits_process.py (TemperatureLogitsWarper, TopKLogitsWarper,
// TopPLogitsWarper, in this order); Meta's llama generation code for the other nucleus rule.
#include "methods/models/decoding/sampler.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace qfs::decoding {

namespace {

using Weighted = std::vector<std::pair<double, int32_t>>;

/// Scales to a sum of 1.
void normalize(Weighted& tokens) {
  double sum = 0;
  for (const auto& [weight, id] : tokens) sum += weight;
  for (auto& [weight, id] : tokens) weight /= sum;
}

bool more_probable(const Weighted::value_type& a, const Weighted::value_type& b) {
  return a.first != b.first ? a.first > b.first : a.second < b.second;
}

/// Tokens as probable as the k-th stay, as in the reference.
void keep_top_k(Weighted& tokens, int64_t k) {
  if (k < 1 || static_cast<size_t>(k) >= tokens.size()) return;
  std::ranges::nth_element(tokens, tokens.begin() + k - 1, more_probable);
  const double smallest = tokens[static_cast<size_t>(k - 1)].first;
  std::erase_if(tokens, [&](const auto& token) { return token.first < smallest; });
}

/// Drops tokens that cannot be in the nucleus, so that few are sorted: all those as improbable as
/// a fair share of what top_p leaves out have no more mass together than it.
void drop_improbable(Weighted& tokens, double top_p) {
  if (top_p >= 1) return;
  constexpr double kRounding = 1 - 1e-6;
  const double bound = (1 - top_p) / static_cast<double>(tokens.size()) * kRounding;
  std::erase_if(tokens, [&](const auto& token) { return token.first < bound; });
}

void keep_nucleus(Weighted& sorted, double top_p, NucleusRule rule) {
  if (top_p >= 1) return;
  double before = 0;
  size_t end = 0;
  while (end < sorted.size()) {
    const bool beyond = rule == NucleusRule::reaches ? before >= top_p : before > top_p;
    if (beyond && end > 0) break;
    before += sorted[end++].first;
  }
  sorted.resize(end);
}

void distribution(const SamplingOptions& options, std::span<const float> logits, Weighted& tokens) {
  const double largest = *std::ranges::max_element(logits);
  tokens.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!std::isfinite(logits[i])) continue;
    tokens.emplace_back(std::exp((logits[i] - largest) / options.temperature),
                        static_cast<int32_t>(i));
  }
  keep_top_k(tokens, options.top_k);
  normalize(tokens);
  drop_improbable(tokens, options.top_p);
  std::ranges::sort(tokens, more_probable);
  keep_nucleus(tokens, options.top_p, options.nucleus);
  normalize(tokens);
}

}  // namespace

Sampler::Sampler(const SamplingOptions& options, uint64_t seed)
    : options_(options), rng_(Rng::derived(seed, "sampling")) {}

int32_t Sampler::draw(std::span<const float> logits) {
  distribution(options_, logits, kept_);
  double left = rng_.uniform();
  for (const auto& [probability, id] : kept_) {
    left -= probability;
    if (left < 0) return id;
  }
  return kept_.back().second;
}

std::vector<std::pair<double, int32_t>> sampling_distribution(const SamplingOptions& options,
                                                              std::span<const float> logits) {
  Weighted tokens;
  distribution(options, logits, tokens);
  return tokens;
}

}  // namespace qfs::decoding

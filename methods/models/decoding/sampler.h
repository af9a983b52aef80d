// Sampler: draws a token from logits by temperature, top-k and top-p.
//
// Owned by one row, which has a random stream of its own, so that a draw depends on the row's seed
// and step alone. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/core/rng.h"
#include "methods/models/decoding/decoding.h"

namespace qfs::decoding {

class Sampler {
 public:
  Sampler(const SamplingOptions& options, uint64_t seed);

  /// The next token. Some logit must be finite, none +infinity or not a number.
  int32_t draw(std::span<const float> logits);

 private:
  SamplingOptions options_;
  Rng rng_;
  std::vector<std::pair<double, int32_t>> kept_;  ///< probabilities that were not dropped, falling
};

/// The tokens that may be drawn with their probabilities, which sum to 1, most probable first; ties
/// by id. The distribution of Sampler, for tests and reports.
std::vector<std::pair<double, int32_t>> sampling_distribution(const SamplingOptions& options,
                                                              std::span<const float> logits);

}  // namespace qfs::decoding

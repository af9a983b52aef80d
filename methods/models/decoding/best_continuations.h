// The most probable continuations of several beams together.
//
// Called by beam search. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace qfs::decoding {

/// A beam's next token, with the sum of log-probabilities up to and with it.
struct ScoredContinuation {
  int64_t row = 0;
  int32_t token = 0;
  double sum = 0;
};

/// Logits to log-probabilities in place: x - log(sum(exp(x))). Minus infinity stays.
void to_log_probabilities(std::span<float> logits);

/// The `count` best of sums[row] + log_probabilities[row, token], best first, ties by row and
/// token; fewer when fewer are above minus infinity. `log_probabilities`: [rows, vocabulary]. Sums
/// are float32, as in the reference.
std::vector<ScoredContinuation> best_continuations(std::span<const float> log_probabilities,
                                                   std::span<const double> sums, size_t count);

}  // namespace qfs::decoding

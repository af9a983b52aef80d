// Resampling: the averages and intervals that ROUGE-1.5.5 prints. Its "Average" is the mean of the
// bootstrap means, not of the items.
//
// Called by the evaluation of configuration files and by RougeMetric155::aggregate. Sample k draws
// with Perl's generator (drand48 of POSIX) seeded with k, so that equal items in equal order give
// equal digits; all columns see the same draws. Deterministic; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/api/result.h"

namespace qfs::metrics::rouge155 {

/// Perl's rand() since 5.20: x' = 0x5DEECE66D x + 0xB mod 2^48, starting from seed * 2^16 + 0x330E.
class PerlRandom {
 public:
  explicit PerlRandom(uint32_t seed) : state_((uint64_t{seed} << 16U) + 0x330E) {}
  /// int(rand(bound))
  size_t below(double bound) {
    constexpr uint64_t kMask = (uint64_t{1} << 48U) - 1;
    constexpr double kUnit = 1.0 / static_cast<double>(uint64_t{1} << 48U);
    state_ = (state_ * 0x5DEECE66D + 0xB) & kMask;
    return static_cast<size_t>(bound * (static_cast<double>(state_) * kUnit));
  }

 private:
  uint64_t state_;
};

struct ResamplingOptions {
  int64_t samples = 1000;  ///< -r
  double confidence = 95;  ///< -c, in percent
};

inline constexpr int64_t kMaxSamples = 1'000'000;

/// `invalid_argument` for a number out of its range; the message names the switch.
Status check(const ResamplingOptions& options);

struct Estimate {
  double average = 0;  ///< mean of the sorted samples
  double lower = 0;
  double upper = 0;
};

/// One estimate a column of `values`, rows of `columns` numbers each, in the order of instances.
/// `values` is not empty, `check(options)` holds.
std::vector<Estimate> resample_means(std::span<const double> values, size_t columns,
                                     const ResamplingOptions& options);

/// -t 1: rows are triples of counts (reference, candidate, hits), one triple a variant; a sample is
/// recall, precision and F of their sums.
std::vector<Estimate> resample_pooled(std::span<const double> counts, size_t columns, double alpha,
                                      const ResamplingOptions& options);

}  // namespace qfs::metrics::rouge155

// Paired approximate randomisation: could a difference of means between two systems on the same
// items be chance?
//
// Called by `compare` and `gate`. Under the hypothesis that the systems are exchangeable, the sign
// of each cluster's difference is arbitrary; items of one document keep a common sign. With few
// clusters every assignment is looked at, otherwise random ones. All columns see the same
// assignments. Stateless, thread-safe, deterministic on every platform. Source: Noreen 1989, 2.1;
// Riezler & Maxwell 2005.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"

namespace qfs::metrics {

struct RandomizationOptions {
  int64_t trials = 10000;
  uint64_t seed = 12345;
};

enum class Alternative {
  different,  ///< two-sided: the mean differences are not 0
  less,       ///< one-sided: the mean differences are below 0
};

/// Every option that can change a digit: "randomisation|unit:cluster|order:sha256|rng:…|n:10000|…".
std::string randomization_signature(const RandomizationOptions& options);

/// Whether every assignment of this many clusters is looked at, and none drawn.
bool looks_at_all(int64_t clusters, const RandomizationOptions& options = {});

/// The smallest p that any data on this many clusters can have: all of them agree.
double least_p(int64_t clusters, Alternative alternative, const RandomizationOptions& options = {});

/// The fewest clusters whose least_p is below `level`; 0 when no number of them suffices, because
/// there are too few trials.
int64_t clusters_for_p(double level, Alternative alternative,
                       const RandomizationOptions& options = {});

/// One p-value per column of `differences` (row i: the difference of item i, `clusters[i]` its
/// cluster): (k + 1) / (trials + 1), where k assignments give a sum at least as extreme as the
/// observed one, or the exact share when 2^clusters <= trials. Identical systems get 1. For "worse
/// by more than m" shift the differences by m and ask for `less`. Errors: `invalid_argument` for no
/// rows, unequal lengths, a value that is not finite, no trials.
Result<std::vector<double>> randomization_p(std::span<const Statistics> differences,
                                            std::span<const std::string> clusters,
                                            Alternative alternative,
                                            const RandomizationOptions& options = {});

/// Holm's step-down adjustment for several tests (Holm 1979): p-values in the order given, each so
/// that rejecting those below a level keeps the chance of any false alarm below it.
std::vector<double> holm_adjusted(std::span<const double> p);

}  // namespace qfs::metrics

// What a paired comparison of clusters could have shown: the standard error of its difference, how
// well so few clusters know it, and how many would show what these hint at.
//
// Called by comparisons, to say what would decide an undecided one. Approximate (normal theory) and
// for people: no verdict depends on it. Stateless, thread-safe, deterministic. Sources: Cochran
// 1977, 6.4 (standard error of a ratio of cluster sums); Lachin 1981 (size for level and power).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "harness/api/metric.h"
#include "harness/api/result.h"

namespace qfs::metrics {

/// With this chance the clusters that clusters_to_show asks for show a difference that is there.
inline constexpr double kPower = 0.8;

/// Standard error of the mean over all items of the only column of `items`; 0 for one cluster.
/// Errors as bootstrap_means.
Result<double> cluster_standard_error(std::span<const Statistics> items,
                                      std::span<const std::string> clusters);

/// What a standard error may truly be: the bounds of a 95 % interval.
struct ErrorBounds {
  double low = 0;
  double high = 0;
};

/// Of one that at least two clusters have estimated: their variance over its true value is
/// chi-square with one degree of freedom less, as far as clusters differ normally.
ErrorBounds standard_error_bounds(int64_t clusters, double standard_error);

/// How many clusters like these `clusters`, on which a mean has this standard error, show at a
/// one-sided `level` that it is not `gap` (> 0) away, with the chance kPower.
int64_t clusters_needed(int64_t clusters, double standard_error, double gap, double level);

/// The same for a mean that these did not show: at least one more than there are.
int64_t clusters_to_show(int64_t clusters, double standard_error, double gap, double level);

/// The chance that so many clusters show, at a one-sided `level`, a mean that lies `gap` away (any
/// sign) when its standard error is `standard_error` > 0: the noncentral t approximated by a normal
/// (Abramowitz & Stegun 1964, 26.7.10). 0 for fewer than two clusters.
double power_to_show(int64_t clusters, double standard_error, double gap, double level);

/// The gap that is shown with the chance kPower; std::nullopt where none is.
std::optional<double> gap_to_show(int64_t clusters, double standard_error, double level);

}  // namespace qfs::metrics

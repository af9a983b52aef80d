// ClusterSums: sums of statistics per cluster (document), what resampling by document works on.
//
// Used by metrics/stats and by comparisons. Clusters are in the order of the SHA-256 of their
// names, and a cluster's values are added in ascending order: neither the order of the items nor an
// order that somebody gave their ids changes a digit. Stateless; thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"

namespace qfs::metrics {

/// Sums of equal terms in another order differ by rounding, up to this share of their size: a
/// resample that near to what was observed is a tie, which tests count as as extreme.
inline constexpr double kTie = 1e-12;

/// The sum of these values, which does not depend on their order.
double sum_of(std::vector<double> values);

struct ClusterSums {
  size_t columns = 0;
  std::vector<double> sums;   ///< cluster after cluster, columns side by side
  std::vector<double> sizes;  ///< items of each cluster

  size_t clusters() const { return sizes.size(); }
};

/// Errors: `invalid_argument` for no items, another number of clusters than of items, rows of
/// unequal length, a value that is not finite.
Result<ClusterSums> sum_by_cluster(std::span<const Statistics> items,
                                   std::span<const std::string> clusters);

}  // namespace qfs::metrics

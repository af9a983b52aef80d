// ClusterSums: sums of statistics per cluster (document), what resampling by document works on.
//
// Used inside metrics/stats only. Clusters are in byte order of their names, so that the order of
// the items does not matter. Stateless; thread-safe.
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

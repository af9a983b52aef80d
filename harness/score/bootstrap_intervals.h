// BootstrapIntervals: the intervals of every score, by resampling clusters.
//
// Called by scorers of stores and files, and of imported scores. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/store/rows.h"

namespace qfs::score {

/// Intervals of a metric's columns.
struct ColumnIntervals {
  std::vector<std::optional<store::ScoreInterval>>
      columns;  ///< one a column; absent: too few clusters
  int64_t clusters = 0;

  /// What stands in the place of one that is absent: "n/a (7 of 10 clusters)".
  std::string absent() const;
};

/// How sure a corpus value is, by the cluster bootstrap of metrics/stats.
class BootstrapIntervals {
 public:
  explicit BootstrapIntervals(int64_t resamples = 10000) : resamples_(resamples) {}
  /// Every option that can change a digit, e.g.
  /// "bootstrap|method:percentile|unit:cluster|n:10000|…".
  std::string method() const;
  /// `clusters[i]` is the document of `items[i]`: items of one document are resampled together.
  Result<ColumnIntervals> estimate(const Metric& metric, std::span<const Statistics> items,
                                   std::span<const std::string> clusters) const;

 private:
  int64_t resamples_;
};

}  // namespace qfs::score

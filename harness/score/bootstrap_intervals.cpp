#include "harness/score/bootstrap_intervals.h"

#include "metrics/stats/bootstrap.h"

namespace qfs::score {

std::string ColumnIntervals::absent() const { return metrics::unavailable_interval_text(clusters); }

std::string BootstrapIntervals::method() const {
  return metrics::bootstrap_signature({.resamples = resamples_});
}

Result<ColumnIntervals> BootstrapIntervals::estimate(const Metric& metric,
                                                     std::span<const Statistics> items,
                                                     std::span<const std::string> clusters) const {
  Result<std::vector<metrics::Interval>> intervals = metrics::bootstrap_means(
      items, clusters, {.resamples = resamples_}, metrics::values_of(metric));
  if (!intervals) return intervals.error();
  ColumnIntervals estimated;
  for (const metrics::Interval& interval : *intervals) {
    estimated.clusters = interval.clusters;
    std::optional<store::ScoreInterval>& column = estimated.columns.emplace_back();
    if (interval.available()) column = store::ScoreInterval{interval.low, interval.high};
  }
  return estimated;
}

}  // namespace qfs::score

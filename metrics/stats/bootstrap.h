// Percentile bootstrap over clusters: intervals of means and of paired differences of means.
//
// Called by scoring, reports, `compare` and `gate`. Items of one document are not independent, so
// whole clusters (documents) are drawn with replacement; the statistic is the mean over the drawn
// items. The draw depends on the seed and the number of clusters only, which are numbered in the
// order of the SHA-256 of their names: all columns, and all systems scored on the same documents in
// whatever order, see the same resamples. Stateless, thread-safe, deterministic on
// every platform. Sources: Efron & Tibshirani 1993, 13.3 (percentile interval); Field & Welsh 2007
// (cluster bootstrap).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"

namespace qfs::metrics {

/// With fewer clusters a percentile interval is far too narrow, so none is given.
inline constexpr int64_t kMinimumClusters = 10;

struct BootstrapOptions {
  int64_t resamples = 10000;
  uint64_t seed = 12345;
  double level = 0.95;  ///< in (0, 1)
};

/// Every option that can change a digit: "bootstrap|method:percentile|unit:cluster|n:10000|…".
std::string bootstrap_signature(const BootstrapOptions& options);

struct Interval {
  double low = 0;  ///< meaningful only when available()
  double high = 0;
  int64_t clusters = 0;

  bool available() const { return clusters >= kMinimumClusters; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// What a table shows where there are too few for an interval: "n/a (7 of 10 clusters)".
std::string unavailable_interval_text(int64_t clusters);

struct PairedDifference {
  double difference = 0;  ///< mean of `a` minus mean of `b` over all items
  Interval interval;
};

/// What makes values of the means of one resample, in place, given its number of items
/// (Metric::values_from_means, CorpusMetric::values_from_sums); may be empty.
using MeansTransform = std::function<void(std::span<double> means, double items)>;

/// A metric's own. The metric must outlive it.
MeansTransform values_of(const Metric& metric);

/// One interval per column of `items` (rows of equal length); `clusters[i]` is the cluster of row
/// i. Errors: `invalid_argument` for no rows, unequal lengths, a non-finite value, options out of
/// range.
Result<std::vector<Interval>> bootstrap_means(std::span<const Statistics> items,
                                              std::span<const std::string> clusters,
                                              const BootstrapOptions& options = {},
                                              const MeansTransform& transform = {});

/// Per column the difference of means of two systems scored on the same items (row i of both
/// belongs to item i), with the interval of the difference under joint resampling.
Result<std::vector<PairedDifference>> bootstrap_differences(std::span<const Statistics> a,
                                                            std::span<const Statistics> b,
                                                            std::span<const std::string> clusters,
                                                            const BootstrapOptions& options = {});

/// Per column the median of the values of the resamples, which draw single items: the point
/// estimate "mid" of rouge_score's BootstrapAggregator. Rows are of equal length; none: an empty
/// result.
std::vector<double> bootstrap_medians(std::span<const Statistics> items,
                                      const BootstrapOptions& options,
                                      const MeansTransform& transform = {});

/// The q-quantile (q in [0, 1]) of sorted values, linear between neighbours at position q * (n - 1)
/// (numpy's default method; Hyndman & Fan 1996, definition 7). `sorted` is not empty.
double linear_quantile(std::span<const double> sorted, double q);

}  // namespace qfs::metrics

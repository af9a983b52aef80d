#include "harness/cli/catalogs.h"

#include "datasets/readers/catalog.h"
#include "harness/cli/hosted_metrics.h"
#include "methods/families.h"
#include "metrics/catalog.h"
#include "metrics/stats/bootstrap.h"

namespace qfs::cli {

const MethodCatalog& Catalogs::methods() {
  if (!methods_) methods_ = methods::make_method_catalog();
  return *methods_;
}

const DatasetCatalog& Catalogs::datasets() {
  if (!datasets_) datasets_ = datasets::make_catalog(datasets::default_catalog_options());
  return *datasets_;
}

const MetricCatalog& Catalogs::metrics() {
  if (!metrics_) {
    metrics_ = std::make_unique<metrics::BuiltinMetrics>(
        hosted_metric_entries(methods(), metric_threads_));
  }
  return *metrics_;
}

std::string BootstrapIntervals::method() const {
  return metrics::bootstrap_signature({.resamples = resamples_});
}

Result<score::ColumnIntervals> BootstrapIntervals::estimate(
    const Metric& metric, std::span<const Statistics> items,
    std::span<const std::string> clusters) const {
  Result<std::vector<metrics::Interval>> intervals = metrics::bootstrap_means(
      items, clusters, {.resamples = resamples_}, metrics::values_of(metric));
  if (!intervals) return intervals.error();
  score::ColumnIntervals estimated;
  for (const metrics::Interval& interval : *intervals) {
    estimated.clusters = interval.clusters;
    std::optional<store::ScoreInterval>& column = estimated.columns.emplace_back();
    if (interval.available()) column = store::ScoreInterval{interval.low, interval.high};
  }
  return estimated;
}

}  // namespace qfs::cli

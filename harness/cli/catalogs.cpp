#include "harness/cli/catalogs.h"

#include <fmt/format.h>

#include <cmath>

#include "datasets/catalog.h"
#include "methods/register_specs.h"
#include "metrics/catalog.h"
#include "metrics/stats/bootstrap.h"

namespace qfs::cli {
namespace {

/// Whether the metric's corpus values are the plain means that the bootstrap resamples.
bool aggregates_by_mean(const Metric& metric, std::span<const Statistics> items) {
  constexpr double kTolerance = 1e-9;
  const std::vector<Score> corpus = metric.aggregate(items);
  for (size_t column = 0; column < corpus.size(); ++column) {
    double sum = 0;
    for (const Statistics& item : items) sum += item[column];
    const double mean = sum / static_cast<double>(items.size());
    if (std::abs(corpus[column].value - mean) > kTolerance) return false;
  }
  return true;
}

}  // namespace

const MethodCatalog& Catalogs::methods() {
  if (!methods_) methods_ = methods::make_method_catalog();
  return *methods_;
}

const DatasetCatalog& Catalogs::datasets() {
  if (!datasets_) datasets_ = datasets::make_catalog(datasets::default_catalog_options());
  return *datasets_;
}

const MetricCatalog& Catalogs::metrics() {
  if (!metrics_) metrics_ = std::make_unique<metrics::BuiltinMetrics>();
  return *metrics_;
}

std::string BootstrapIntervals::method() const { return metrics::bootstrap_signature({}); }

Result<score::ColumnIntervals> BootstrapIntervals::estimate(
    const Metric& metric, std::span<const Statistics> items,
    std::span<const std::string> clusters) const {
  if (!aggregates_by_mean(metric, items)) {
    return internal_error(fmt::format(
        "metric '{}' does not aggregate by the mean, so its interval needs another estimator",
        metric.name()));
  }
  Result<std::vector<metrics::Interval>> intervals = metrics::bootstrap_means(items, clusters);
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

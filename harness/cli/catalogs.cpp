#include "harness/cli/catalogs.h"

#include "datasets/readers/catalog.h"
#include "harness/cli/hosted_metrics.h"
#include "methods/families.h"
#include "metrics/catalog.h"

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

}  // namespace qfs::cli

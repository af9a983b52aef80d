// Catalogs: the methods, data sets and metrics that this program knows, made when first asked for.
// Used by the subcommands. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "harness/api/dataset.h"
#include "harness/api/method.h"
#include "harness/api/metric.h"

namespace qfs::cli {

class Catalogs {
 public:
  const MethodCatalog& methods();
  const DatasetCatalog& datasets();
  const MetricCatalog& metrics();
  /// Threads of a host that computes a metric (0: one a core); before metrics() is asked.
  void set_metric_threads(unsigned threads) { metric_threads_ = threads; }

 private:
  unsigned metric_threads_ = 0;
  std::unique_ptr<MethodCatalog> methods_;
  std::unique_ptr<DatasetCatalog> datasets_;
  std::unique_ptr<MetricCatalog> metrics_;
};

}  // namespace qfs::cli

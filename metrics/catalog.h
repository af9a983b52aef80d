// BuiltinMetrics: the metrics that this program has, and how their names and options are read.
//
// Called by configuration (validation of "metrics"), scoring and `list metrics`. A name is
// "metric" or "metric:option=value,option=value". Thread-safe; unknown names, options and values
// are errors that name the nearest valid one.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "harness/api/metric.h"

namespace qfs::metrics {

class BuiltinMetrics final : public MetricCatalog {
 public:
  BuiltinMetrics();
  std::vector<const Metric*> metrics() const override;
  Result<std::shared_ptr<const Metric>> make(std::string_view name) const override;

 private:
  std::vector<std::shared_ptr<const Metric>> metrics_;  ///< each with its default options
};

}  // namespace qfs::metrics

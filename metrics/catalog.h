// BuiltinMetrics: the metrics that this program has, and how their names and options are read.
//
// Called by configuration (validation of "metrics"), scoring and `list metrics`. A name is
// "metric" or "metric:option=value,option=value", where metric may be an alias. Thread-safe;
// unknown names, options and values are errors that name the nearest valid one.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "harness/api/metric_entry.h"

namespace qfs::metrics {

/// The table: one line a metric, in the order of `list metrics`.
const std::vector<MetricEntry>& metric_entries();

class BuiltinMetrics final : public MetricCatalog {
 public:
  /// `more`: entries that a program has besides, behind those of the table.
  explicit BuiltinMetrics(std::vector<MetricEntry> more = {});

  std::vector<MetricInfo> list() const override;
  Result<std::shared_ptr<const Metric>> make(std::string_view name) const override;

 private:
  std::vector<MetricEntry> entries_;
};

}  // namespace qfs::metrics

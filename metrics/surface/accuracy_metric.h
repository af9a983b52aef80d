// AccuracyMetric: whether a prediction is one of the references, white space around both aside; for
// data sets whose answers are labels (CoLA).
//
// Called by scoring through the catalogue as "accuracy". Stateless and thread-safe. An item without
// references is an error.
#pragma once

#include "harness/api/metric.h"

namespace qfs::metrics {

class AccuracyMetric final : public Metric {
 public:
  std::string_view name() const override { return "accuracy"; }
  std::string_view doc() const override;
  /// accuracy.f: 1 or 0
  std::vector<std::string> columns() const override { return {"accuracy.f"}; }
  std::string signature() const override;
  MetricNeeds needs() const override { return {}; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override;
};

}  // namespace qfs::metrics

// External metrics: a program of the user's that scores predictions over the session protocol.
//
// Made by the command line when a sweep declares "external_metrics" and the user agreed with
// --allow-external. The program is started to describe itself, and again for the first measure();
// it then lives until the metric is destroyed or it fails. Items go in batches; each batch has the
// declared time. A program that fails, dies, is late or gives anything but one finite number a
// column is an error of this metric, with the place of its log, never a 0. Thread-safe: one
// measurement at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/api/experiment.h"
#include "harness/api/metric.h"
#include "harness/api/result.h"

namespace qfs::run {

/// The declared metric. Its signature has the program's name and version and the SHA-256 of its
/// fingerprint's files; the command is not in it.
Result<std::shared_ptr<const Metric>> make_external_metric(const ExternalMetricEntry& entry,
                                                           const HostLimits& limits);

/// Another catalogue with the sweep's external metrics, which are asked by their declared names.
class MetricsWithExternal final : public MetricCatalog {
 public:
  /// `base` outlives it. Errors: a name that `base` has, a declared metric that the sweep does not
  /// use, a program that does not describe itself as a metric.
  static Result<MetricsWithExternal> make(const MetricCatalog& base, const Experiment& experiment);

  std::vector<MetricInfo> list() const override;
  Result<std::shared_ptr<const Metric>> make(std::string_view name) const override;

 private:
  explicit MetricsWithExternal(const MetricCatalog& base) : base_(&base) {}

  const MetricCatalog* base_;
  std::vector<std::shared_ptr<const Metric>> external_;
};

}  // namespace qfs::run

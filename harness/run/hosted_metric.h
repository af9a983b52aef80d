// HostedMetric: a metric that a host computes (harness/api/metric_session.h), seen as any other.
//
// Made by the command line for metrics that need tensors. The host is started by the first
// measure() and lives until the metric is destroyed or something fails; the next measurement then
// starts another one. Each distinct text of a corpus crosses once. A failure names the host's log
// and is never a 0. Thread-safe: one measurement at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/host/client.h"

namespace qfs::run {

struct HostedMetricSettings {
  std::string name;  ///< with options
  std::string doc;
  std::vector<std::string> columns;
  std::string signature;
  std::string tool;            ///< whose digits these are
  std::string tool_signature;  ///< as that tool signs
  host::OpenRequest open;
  std::function<Result<host::HostClient>()> start;
  std::string log;             ///< where the host's output is
  bool pairs_at_once = false;  ///< a value depends on the pairs around it
};

std::shared_ptr<const Metric> make_hosted_metric(HostedMetricSettings settings);

}  // namespace qfs::run

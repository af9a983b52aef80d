// Which metrics `score` measures over a store: those asked for, or those of the stored sweep, with
// the programs that the sweep declares as external metrics when the user agreed to start them.
//
// Called by score_command.cpp. Starts external programs, and only those that are wanted. A metric
// of the sweep that is not measured is named with the reason; nothing is passed over silently. Not
// thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "reports/sweep_facts.h"

namespace qfs::cli {

struct StoreMetricsRequest {
  std::vector<std::string> names;  ///< empty: those of the sweep
  bool allow_external = false;
  std::string folder;  ///< of the sweep file, where external programs lie
  std::string store;   ///< path, for messages
};

/// A metric of the sweep that is not measured.
struct PassedOver {
  std::string name;
  std::string reason;    ///< a sentence for people
  int64_t unscored = 0;  ///< predictions that have no score by it yet
};

struct StoreMetrics {
  std::vector<std::shared_ptr<const Metric>> metrics;
  std::vector<PassedOver> passed_over;
};

/// Errors: a name that neither this program nor the sweep has; an external metric that was asked
/// for by name without `allow_external`; a program that cannot be found or does not describe itself
/// as a metric.
Result<StoreMetrics> store_metrics(const StoreMetricsRequest& request,
                                   const reports::SweepFacts& facts, const MetricCatalog& catalog);

}  // namespace qfs::cli

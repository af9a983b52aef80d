// What signs a score of texts from outside a store besides the metric's own signature.
//
// Called by `score` on files and by the Python package, which therefore sign alike. Pure;
// thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "harness/api/metric.h"

namespace qfs::score {

struct RunFacts {
  size_t items = 0;
  size_t fewest_references = 0;
  size_t most_references = 0;
  std::string missing_policy = "error";
  int64_t missing = 0;
  int64_t empty_predictions = 0;
  int64_t empty_references = 0;
  std::string unit = "item";       ///< what an interval resamples
  std::string intervals;           ///< BootstrapIntervals::method(), or "none"
  std::string dataset;             ///< empty: not a registered one
  std::string postprocess = "[]";  ///< the chain, as canonical JSON
  std::string version;             ///< of qfs-bench
};

/// The metric's signature and every fact, as `key:value|…`.
std::string long_signature(const Metric& metric, const RunFacts& facts);

/// The few that readers compare at a glance, and the beginning of the long one's digest.
std::string short_signature(const Metric& metric, const RunFacts& facts);

}  // namespace qfs::score

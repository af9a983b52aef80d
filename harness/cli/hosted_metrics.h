// The metrics that qfs-host computes, for the catalogue: finds their models, starts the host.
//
// Called by Catalogs. An entry's factory is `unavailable` where there is no qfs-host or no model,
// with how to get it. Thread-safe.
#pragma once

#include <vector>

#include "harness/api/method.h"
#include "harness/api/metric_entry.h"

namespace qfs::cli {

/// `methods` outlives the entries; `threads`: 0: one a core.
std::vector<MetricEntry> hosted_metric_entries(const MethodCatalog& methods, unsigned threads);

}  // namespace qfs::cli

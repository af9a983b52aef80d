// The metrics of a stored sweep as its tables show them. Used by `report` and `export --site`.
// Stateless.
#pragma once

#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "reports/report.h"

namespace qfs::cli {

/// Those that the sweep's file names, as this program makes them, or else as the store has them.
Result<std::vector<reports::MetricChoice>> metrics_of_sweep(const reports::SweepFacts& facts,
                                                            const MetricCatalog& catalog);

/// A metric that this program cannot make, imported ("import:alignscore") or external, as the store
/// has it. `not_found` where it has none, `invalid_argument` for several imports.
Result<reports::MetricChoice> stored_metric(const std::string& name,
                                            const reports::SweepFacts& facts);

}  // namespace qfs::cli

// Checks of what comes after the cells have run: metrics that exist and can score the data, and a
// table whose axes and values exist. Made when planning, because a mistyped column should not be
// found after hours. Used by make_plan. Thread-safe; errors are at the key.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "harness/api/metric.h"
#include "harness/plan/expand.h"
#include "harness/plan/plan.h"

namespace qfs::plan {

using Metrics = std::vector<std::shared_ptr<const Metric>>;

Result<Metrics> make_metrics(const Experiment& experiment, const MetricCatalog& catalog);

/// Axes are method, dataset, seed, cell and parameters; a value with a '.' or a '/' is a metric's
/// column ("rouge1.f", "rouge:stem=off/rouge1.f"). Other values are the report's own.
Status check_report(const Experiment& experiment, std::span<const MethodRow> rows,
                    const Metrics& metrics);

/// Every selected example has what the metrics read.
Status check_metric_needs(const Experiment& experiment, const Metrics& metrics,
                          const PlannedDataset& dataset);

}  // namespace qfs::plan

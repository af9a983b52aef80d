// The name of a metric with the options that are not defaults.
//
// Called by the catalogue's entries. Pure.
#pragma once

#include <string>
#include <vector>

#include "harness/api/metric_entry.h"

namespace qfs::metrics {

/// "rouge-zh:segmenter=char,case=keep".
std::string name_with_options(const std::string& metric, const std::vector<MetricOption>& options,
                              const MetricOptionValues& values);

}  // namespace qfs::metrics

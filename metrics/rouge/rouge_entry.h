// The catalogue's entries of "rouge" and "ideal": aliases, options and their texts, factory.
//
// Called by metrics/catalog.cpp once. Pure; thread-safe; factories fail for a wrong `multi` only.
#pragma once

#include "harness/api/metric_entry.h"

namespace qfs::metrics {

MetricEntry rouge_entry();
MetricEntry ideal_entry();

}  // namespace qfs::metrics

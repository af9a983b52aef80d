// The catalogue's entry of "rouge": aliases, options and their texts, factory.
//
// Called by metrics/catalog.cpp once. Pure; thread-safe; the factory cannot fail on checked values.
#pragma once

#include "harness/api/metric_entry.h"

namespace qfs::metrics {

MetricEntry rouge_entry();

}  // namespace qfs::metrics

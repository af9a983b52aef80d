// The catalogue's entries of sacreBLEU's metrics: "bleu" and "chrf" with the alias "chrf++".
//
// Called by metrics/catalog.cpp. A factory fails for a smoothing value that is no number or that
// the smoothing has no use for. Pure.
#pragma once

#include "harness/api/metric_entry.h"

namespace qfs::metrics {

MetricEntry bleu_entry();
MetricEntry chrf_entry();

}  // namespace qfs::metrics

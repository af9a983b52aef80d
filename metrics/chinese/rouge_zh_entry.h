// The catalogue's entry of "rouge-zh": options and factory.
//
// Called by metrics/catalog.cpp. The factory fails when the chosen segmenter's files are absent.
// Pure.
#pragma once

#include "harness/api/metric_entry.h"

namespace qfs::metrics {

MetricEntry rouge_zh_entry();

}  // namespace qfs::metrics

// The catalogue's entries of the metrics that look at a prediction's surface, its document and its
// query, or compare it whole: coverage, density, compression, novel-ngrams, repetition, length,
// query-coverage, accuracy.
//
// Called by metrics/catalog.cpp. Factories fail when jieba is asked for and absent. Pure.
#pragma once

#include "harness/api/metric_entry.h"

namespace qfs::metrics {

MetricEntry coverage_entry();
MetricEntry density_entry();
MetricEntry compression_entry();
MetricEntry novel_ngrams_entry();
MetricEntry repetition_entry();
MetricEntry length_entry();
MetricEntry query_coverage_entry();
MetricEntry accuracy_entry();

}  // namespace qfs::metrics

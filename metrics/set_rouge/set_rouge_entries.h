// The catalogue's entries of "pltrdy-rouge", "rouge-chinese" and "longbench": options and
// factories.
//
// Called by metrics/catalog.cpp. Factories fail when jieba is asked for and absent. Pure.
#pragma once

#include "harness/api/metric_entry.h"

namespace qfs::metrics {

MetricEntry pltrdy_rouge_entry();
MetricEntry rouge_chinese_entry();
MetricEntry longbench_entry();

}  // namespace qfs::metrics

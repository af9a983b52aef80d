// The options of a metric that choose a segmenter, and the segmenter they choose.
//
// Called by the catalogue entries of metrics that segment. Thread-safe. Jieba without its files is
// `unavailable` with how to get them; an option that the chosen segmenter does not have is
// `invalid_argument`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/api/metric_entry.h"
#include "metrics/chinese/segmenter.h"
#include "metrics/text/metric_name.h"

namespace qfs::metrics {

/// segmenter=icu|char|pretok|jieba, dictionary=FILE and hmm=on|off.
std::vector<MetricOption> segmenter_options(const std::string& default_segmenter);

Result<std::shared_ptr<const Segmenter>> make_segmenter(const MetricOptionValues& values);

}  // namespace qfs::metrics

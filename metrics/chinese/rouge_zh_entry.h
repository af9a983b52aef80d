// The catalogue's entry of "rouge-zh": options and factory, and how a stored score read its texts.
//
// Called by metrics/catalog.cpp and metrics/matches. The factory fails when the chosen segmenter's
// files are absent. Pure.
#pragma once

#include <memory>
#include <string_view>

#include "harness/api/metric_entry.h"
#include "metrics/chinese/zh_text.h"

namespace qfs::metrics {

MetricEntry rouge_zh_entry();

/// What finds the words of a score with this signature, to the version of its dictionary; null for
/// another metric's, and for a segmenter that is not here.
std::unique_ptr<ZhTextEncoder> zh_encoder_of(std::string_view signature);

}  // namespace qfs::metrics

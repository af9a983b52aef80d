// Metrics that `compare` on stores cannot compare, each with the reason, so that none is passed
// over silently: scored on one side only, scored in two ways, or declared by a sweep and scored on
// neither side (an external metric whose program was not allowed to start).
//
// Called by compare_stores.cpp. Pure; thread-safe.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/store/rows.h"

namespace qfs::compare {

struct UncomparedMetric {
  std::string metric;
  std::string reason;  ///< a sentence
  bool of_a = false;   ///< A has a score by it
};

/// In the order of `declared` and then of the scores. `declared`: names of the metrics of both
/// sweeps, as scores have them.
std::vector<UncomparedMetric> uncompared_metrics(std::span<const store::ScoreJobRow> a,
                                                 std::span<const store::ScoreJobRow> b,
                                                 std::span<const std::string> declared);

}  // namespace qfs::compare

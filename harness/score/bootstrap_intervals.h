// BootstrapIntervals: the intervals of every score, by resampling clusters.
//
// Called by files.cpp, imported scores and those who score stores. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "harness/score/score.h"

namespace qfs::score {

/// The cluster bootstrap of metrics/stats behind scoring's interface: resamples documents.
class BootstrapIntervals final : public IntervalEstimator {
 public:
  explicit BootstrapIntervals(int64_t resamples = 10000) : resamples_(resamples) {}
  std::string method() const override;
  Result<ColumnIntervals> estimate(const Metric& metric, std::span<const Statistics> items,
                                   std::span<const std::string> clusters) const override;

 private:
  int64_t resamples_;
};

}  // namespace qfs::score

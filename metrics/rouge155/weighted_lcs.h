// WeightedLcs: marks the longest common subsequence that prefers runs (ROUGE-W).
//
// Called by Scorer. One table of reference by candidate tokens: a cell keeps the weight of the best
// subsequence, where a run of k adjacent matches is worth weight(k) = k^power. On equal weights the
// path goes up, that is back in the reference, as in ROUGE-1.5.5. Time and memory grow with the
// product of the lengths (one byte a cell); callers check kMaxCells. Not thread-safe. Source: Lin,
// "ROUGE: a package for automatic evaluation of summaries", 2004, section 4.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "metrics/text/local_id.h"

namespace qfs::metrics::rouge155 {

class WeightedLcs {
 public:
  static constexpr uint64_t kMaxCells = uint64_t{1} << 30;

  explicit WeightedLcs(double power) : power_(power) {}

  double weight(size_t length);
  /// The length whose weight this is.
  double inverse(double weight) const;

  /// Sets marks[i] for every reference token on the path.
  void mark(std::span<const LocalId> reference, std::span<const LocalId> candidate,
            std::span<char> marks);

 private:
  double power_;
  std::vector<double> weights_;  ///< of lengths 0, 1, 2 …
  std::vector<double> values_;   ///< scratch: one row
  std::vector<uint32_t> runs_;   ///< scratch: length of the run that ends in each cell of one row
  std::vector<char> moves_;      ///< scratch: where the path comes from, row by row
};

}  // namespace qfs::metrics::rouge155

// RowSums: sums of drawn rows of a table of numbers, all columns in one pass.
//
// Called by the bootstrap, which spends nearly all its time here. The rows are laid out in blocks
// of up to sixteen columns, whose sums stay in registers; each column is added in the order of the
// draws, so that no digit depends on the layout. Thread-safe after construction; cannot fail.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "metrics/stats/cluster_sums.h"

namespace qfs::metrics {

class RowSums {
 public:
  /// The columns of `data`, then its sizes.
  explicit RowSums(const ClusterSums& data);

  /// columns() of the data, and one for the sizes.
  size_t columns() const { return columns_; }

  /// `sums`: columns() values. `drawn`: numbers of rows, any number of times each.
  void sum(std::span<const uint32_t> drawn, std::span<double> sums) const;

 private:
  struct Block {
    size_t width = 0;  ///< 4, 8, 12 or 16 columns, the last ones may be padding
    std::vector<double> rows;
  };
  size_t columns_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace qfs::metrics

// Work: what has to be computed and read; MachineLimits: how fast a machine does that at most. Out
// of both follows the share of the machine's limit that a measured time reaches (the roofline of
// Williams et al. 2009).
//
// Work is counted by models, limits are measured in the process that runs them, both are stored
// with timed results. Plain data.
#pragma once

#include <algorithm>
#include <cstdint>

namespace qfs {

struct Work {
  int64_t flops = 0;  ///< floating-point operations: a multiply-add is two
  int64_t bytes = 0;  ///< read from memory: each weight once a step, and the caches

  Work& operator+=(const Work& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
  friend bool operator==(const Work&, const Work&) = default;
};

/// Best rates of the process's threads, a second; all above 0.
struct MachineLimits {
  int64_t read_bytes = 0;  ///< streaming reads of a buffer beyond all caches
  int64_t copy_bytes = 0;  ///< copies within such a buffer, counting bytes read and bytes written
  int64_t gemm_flops = 0;  ///< matrix products in the shapes of the model's weights

  friend bool operator==(const MachineLimits&, const MachineLimits&) = default;
};

/// The least time that `work` takes: computing or reading, whichever is longer.
inline double least_seconds(const Work& work, const MachineLimits& limits) {
  return std::max(static_cast<double>(work.flops) / static_cast<double>(limits.gemm_flops),
                  static_cast<double>(work.bytes) / static_cast<double>(limits.read_bytes));
}

}  // namespace qfs

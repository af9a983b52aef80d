// How fast threads read and copy memory: streaming passes over a buffer beyond all caches.
//
// Called by the measurement of a machine's limits. Allocates the buffer and frees it; takes some
// tenths of a second. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "methods/models/kernels/thread_pool.h"

namespace qfs::kernels {

/// A rate over several passes, a second.
struct ObservedRate {
  double best = 0;
  double median = 0;
  double worst = 0;
  int64_t passes = 0;
};

struct MemoryRates {
  int64_t buffer_bytes = 0;
  ObservedRate read;  ///< bytes read
  ObservedRate copy;  ///< bytes read and bytes written, from one half of the buffer to the other
};

/// Passes over random data, for about `seconds` in all and at least three of each kind.
MemoryRates measure_memory(ThreadPool& pool, double seconds);

/// Nanoseconds of each pass of those that fit into `seconds`, at least three, after one that is not
/// counted.
std::vector<int64_t> pass_times(double seconds, const std::function<void()>& pass);

/// Best, median and worst of passes that moved or computed `amount` each; `ns` is not empty.
ObservedRate observed_rate(std::vector<int64_t> ns, double amount);

}  // namespace qfs::kernels

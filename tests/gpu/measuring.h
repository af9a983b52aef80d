// Repetitions and medians of the device benchmark, and its way of ending on errors.
//
// Used by qfs_bench_device only. One thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <vector>

#include "harness/api/result.h"
#include "harness/core/clock.h"

namespace qfs::test {

inline void must(const Status& status) {
  if (status.ok()) return;
  std::cerr << "qfs_bench_device: " << status.error().to_string() << "\n";
  std::exit(1);
}

/// Waits for the device: a value is copied to the host.
inline void wait_for(const at::Tensor& tensor) { tensor.flatten().narrow(0, 0, 1).to(at::kCPU); }

/// Seconds of each repetition of `work`, after one that is not counted; `before` each of them, not
/// counted either.
inline std::vector<double> seconds_of(
    int repetitions, const std::function<void()>& work,
    const std::function<void()>& before = [] {}) {
  std::vector<double> seconds;
  for (int i = 0; i <= repetitions; ++i) {
    before();
    const int64_t begin_ns = monotonic_ns();
    work();
    if (i > 0) seconds.push_back(static_cast<double>(monotonic_ns() - begin_ns) * 1e-9);
  }
  return seconds;
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace qfs::test

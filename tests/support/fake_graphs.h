// A device that records work as CUDA graphs do, for tests without one: recording does the work once
// and keeps it, replaying does it again. Counts what is asked of it; one test at a time.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "methods/models/kernels/device_plugin.h"

namespace qfs::test {

struct FakeGraphs {
  int64_t recorded = 0;
  int64_t replayed = 0;
  std::set<void*> alive;
  std::string failure;  ///< what recording throws when not empty

  /// Counts since the last call of this function.
  static FakeGraphs& fresh();
  static const kernels::DeviceGraphs& table();
};

}  // namespace qfs::test

// Estimator: seconds from predicted work, for `plan`, progress and the ETA. Never part of an id.
//
// A rough guess from declared rates: it orders cells and says minutes or hours. Immutable;
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/plan/plan.h"

namespace qfs::plan {

/// What a machine does in a second; the defaults are two cores of a current x86-64 server.
struct MachineRates {
  double flops_per_second = 2e11;
  double bytes_per_second = 1e10;
  double seconds_per_unit = 1e-4;      ///< message, row and commit
  double seconds_per_tensor_host = 1;  ///< start, libraries, weights
};

class Estimator {
 public:
  explicit Estimator(MachineRates rates = {}) : rates_(rates) {}

  /// Seconds that the whole cell takes: compute, memory traffic and units add up, because prefill
  /// is bound by the first and decoding by the second.
  double seconds(const Cell& cell) const;
  /// The part of it for `units` remaining units of the cell.
  double remaining_seconds(const Cell& cell, size_t units) const;
  /// Timing the cell in a host of its own: warm-up, then the sub-sample as often as asked for.
  double measure_seconds(const Cell& cell, size_t cell_examples,
                         const MeasureSettings& settings) const;

 private:
  MachineRates rates_;
};

}  // namespace qfs::plan

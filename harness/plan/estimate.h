// Estimator: seconds from predicted work, for `plan`, progress and the ETA. Never part of an id.
//
// Uncalibrated it uses declared rates of a modest CPU; with timings of earlier cells it scales each
// method by what was measured. Immutable; thread-safe.
#pragma once

#include <map>
#include <span>
#include <string>

#include "harness/plan/plan.h"

namespace qfs::plan {

/// What a machine does in a second; the defaults are two cores of a current x86-64 server.
struct MachineRates {
  double flops_per_second = 5e10;
  double bytes_per_second = 1e10;
  double seconds_per_unit = 1e-4;  ///< message, row and commit
};

/// A completed cell as a store remembers it.
struct StoredTiming {
  std::string method;
  Cost cost;
  int64_t units = 0;
  double seconds = 0;
};

class Estimator {
 public:
  explicit Estimator(MachineRates rates = {}, std::span<const StoredTiming> timings = {});

  /// Seconds that the whole cell takes: compute, memory traffic and units add up, because prefill
  /// is bound by the first and decoding by the second.
  double seconds(const Cell& cell) const;
  /// The part of it for `units` remaining units of the cell.
  double remaining_seconds(const Cell& cell, size_t units) const;

 private:
  double declared(const Cost& cost, int64_t units) const;

  MachineRates rates_;
  std::map<std::string, double, std::less<>> scale_;  ///< measured / declared, by method
};

}  // namespace qfs::plan

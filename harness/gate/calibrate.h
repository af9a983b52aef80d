// Calibration: gates on equal results, made of the repeated runs (seeds) of one store: how far runs
// of the same method lie apart, how often that is called worse, and how many documents show a
// wanted drop.
//
// Called by `gate calibrate`. Not thread-safe (it reads by the side's source). Errors are those of
// comparisons.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/compare/compare_stores.h"

namespace qfs::gate {

struct Calibrated {
  std::string cell;
  std::string column;
  double drop = 0;  ///< wanted, on the scale of the statistics
  size_t runs = 0;
  int64_t pairs = 0;          ///< of runs, each a gate on equal results
  int64_t alarms = 0;         ///< of those, called worse
  int64_t clusters = 0;       ///< that a run has
  double standard_error = 0;  ///< of the difference of two runs, all pairs together
  /// Documents that show the drop with the power metrics::kPower, by the runs that are averaged.
  std::map<int64_t, int64_t> needed;
};

struct Calibration {
  std::vector<Calibrated> cells;
  std::vector<compare::NotCompared> left_out;  ///< cells without a second run
  int64_t tests = 1;                           ///< that a gate on all of them adjusts together
};

/// `drops`: the wanted drop of each column beyond the margins of `request`.
Result<Calibration> calibrate(const compare::StoredSide& side,
                              const std::map<std::string, double>& drops,
                              const compare::Request& request, const MetricCatalog& catalog);

}  // namespace qfs::gate

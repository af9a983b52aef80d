#include "harness/plan/estimate.h"

#include <algorithm>

namespace qfs::plan {

double Estimator::seconds(const Cell& cell) const {
  return cell.cost.flops / rates_.flops_per_second + cell.cost.bytes / rates_.bytes_per_second +
         static_cast<double>(cell.units.size()) * rates_.seconds_per_unit;
}

double Estimator::remaining_seconds(const Cell& cell, size_t units) const {
  if (cell.units.empty()) return 0;
  return seconds(cell) * static_cast<double>(units) / static_cast<double>(cell.units.size());
}

double Estimator::measure_seconds(const Cell& cell, size_t cell_examples,
                                  const MeasureSettings& settings) const {
  if (cell_examples == 0) return 0;
  const auto timed = static_cast<double>(
      std::min(settings.examples, static_cast<int64_t>(cell_examples)) * settings.repetitions);
  const double start = cell.host == HostKind::tensor ? rates_.seconds_per_tensor_host : 0;
  return start + seconds(cell) * timed / static_cast<double>(cell_examples) +
         remaining_seconds(cell, static_cast<size_t>(settings.warmup));
}

}  // namespace qfs::plan

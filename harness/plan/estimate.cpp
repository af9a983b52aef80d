#include "harness/plan/estimate.h"

namespace qfs::plan {

Estimator::Estimator(MachineRates rates, std::span<const StoredTiming> timings) : rates_(rates) {
  struct Sums {
    double measured = 0;
    double declared = 0;
  };
  std::map<std::string, Sums> sums;
  for (const StoredTiming& timing : timings) {
    sums[timing.method].measured += timing.seconds;
    sums[timing.method].declared += declared(timing.cost, timing.units);
  }
  for (const auto& [method, sum] : sums) {
    if (sum.measured > 0 && sum.declared > 0) scale_[method] = sum.measured / sum.declared;
  }
}

double Estimator::declared(const Cost& cost, int64_t units) const {
  return cost.flops / rates_.flops_per_second + cost.bytes / rates_.bytes_per_second +
         static_cast<double>(units) * rates_.seconds_per_unit;
}

double Estimator::seconds(const Cell& cell) const {
  const auto scale = scale_.find(cell.spec->name());
  return declared(cell.cost, static_cast<int64_t>(cell.units.size())) *
         (scale == scale_.end() ? 1.0 : scale->second);
}

double Estimator::remaining_seconds(const Cell& cell, size_t units) const {
  if (cell.units.empty()) return 0;
  return seconds(cell) * static_cast<double>(units) / static_cast<double>(cell.units.size());
}

}  // namespace qfs::plan

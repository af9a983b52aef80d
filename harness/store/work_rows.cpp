#include "harness/store/work_rows.h"

#include <algorithm>
#include <string>

namespace qfs::store {
namespace {

constexpr std::string_view kFlops = ".flops";
constexpr std::string_view kBytes = ".bytes";
constexpr std::string_view kRead = "machine.read";
constexpr std::string_view kCopy = "machine.copy";
constexpr std::string_view kGemm = "machine.gemm";
constexpr int64_t kSecondNs = 1'000'000'000;

std::string named(std::string_view phase, std::string_view what) {
  return std::string(phase).append(what);
}

using UnitKey = std::pair<int64_t, int64_t>;

std::map<UnitKey, int64_t> counts(std::span<const MeasurementRow> rows, const std::string& phase) {
  std::map<UnitKey, int64_t> found;
  for (const MeasurementRow& row : rows) {
    if (row.phase == phase) found.emplace(UnitKey(row.repetition, row.unit), row.tokens);
  }
  return found;
}

/// The best rate a second; 0 where there is none.
int64_t rate(std::span<const MeasurementRow> rows, std::string_view phase) {
  int64_t best = 0;
  for (const MeasurementRow& row : rows) {
    if (row.phase != phase || row.ns <= 0) continue;
    const double count = static_cast<double>(row.tokens) * kSecondNs / static_cast<double>(row.ns);
    best = std::max(best, static_cast<int64_t>(count));
  }
  return best;
}

}  // namespace

void add_work(int64_t unit, std::string_view phase, const Work& work,
              std::vector<MeasurementRow>& rows) {
  rows.push_back({0, unit, named(phase, kFlops), 0, work.flops});
  rows.push_back({0, unit, named(phase, kBytes), 0, work.bytes});
}

void add_limits(const MachineLimits& limits, std::vector<MeasurementRow>& rows) {
  rows.push_back({0, 0, std::string(kRead), kSecondNs, limits.read_bytes});
  rows.push_back({0, 0, std::string(kCopy), kSecondNs, limits.copy_bytes});
  rows.push_back({0, 0, std::string(kGemm), kSecondNs, limits.gemm_flops});
}

std::map<UnitKey, Work> works_among(std::span<const MeasurementRow> rows, std::string_view phase) {
  const std::map<UnitKey, int64_t> bytes = counts(rows, named(phase, kBytes));
  std::map<UnitKey, Work> works;
  for (const auto& [unit, flops] : counts(rows, named(phase, kFlops))) {
    const auto read = bytes.find(unit);
    if (read != bytes.end()) works[unit] = {flops, read->second};
  }
  return works;
}

std::optional<MachineLimits> limits_among(std::span<const MeasurementRow> rows) {
  const MachineLimits limits{rate(rows, kRead), rate(rows, kCopy), rate(rows, kGemm)};
  if (limits.read_bytes <= 0 || limits.copy_bytes <= 0 || limits.gemm_flops <= 0) {
    return std::nullopt;
  }
  return limits;
}

}  // namespace qfs::store

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

const MeasurementRow* find(std::span<const MeasurementRow> rows, int64_t repetition, int64_t unit,
                           std::string_view phase) {
  for (const MeasurementRow& row : rows) {
    if (row.repetition == repetition && row.unit == unit && row.phase == phase) return &row;
  }
  return nullptr;
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

std::optional<Work> work_among(std::span<const MeasurementRow> rows, int64_t repetition,
                               int64_t unit, std::string_view phase) {
  const MeasurementRow* const flops = find(rows, repetition, unit, named(phase, kFlops));
  const MeasurementRow* const bytes = find(rows, repetition, unit, named(phase, kBytes));
  if (flops == nullptr || bytes == nullptr) return std::nullopt;
  return Work{flops->tokens, bytes->tokens};
}

std::optional<MachineLimits> limits_among(std::span<const MeasurementRow> rows) {
  const MachineLimits limits{rate(rows, kRead), rate(rows, kCopy), rate(rows, kGemm)};
  if (limits.read_bytes <= 0 || limits.copy_bytes <= 0 || limits.gemm_flops <= 0) {
    return std::nullopt;
  }
  return limits;
}

}  // namespace qfs::store

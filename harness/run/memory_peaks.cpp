#include "harness/run/memory_peaks.h"

#include <algorithm>

namespace qfs::run {

namespace {

using Bytes = std::optional<int64_t> host::DeviceCounts::*;

struct Kind {
  const char* name;
  Bytes bytes;
};

constexpr Kind kDeviceKinds[] = {{"device_allocated_peak", &host::DeviceCounts::allocated_peak},
                                 {"device_requested_peak", &host::DeviceCounts::requested_peak},
                                 {"device_reserved_peak", &host::DeviceCounts::reserved_peak},
                                 {"device_used_peak", &host::DeviceCounts::used},
                                 {"device_used_before", &host::DeviceCounts::used_before}};

}  // namespace

void MemoryPeaks::add(const host::DoneReply& done) {
  resident_ = std::max(resident_, done.peak_resident_bytes);
  for (const auto& [name, bytes] : kDeviceKinds) {
    const std::optional<int64_t>& reported = done.device.*bytes;
    std::optional<int64_t>& peak = device_.*bytes;
    if (reported) peak = std::max(peak.value_or(0), *reported);
  }
}

std::vector<store::MemoryRow> MemoryPeaks::rows() const {
  std::vector<store::MemoryRow> rows = {{0, "host_peak", resident_}};
  for (const auto& [name, bytes] : kDeviceKinds) {
    if (const auto& peak = device_.*bytes; peak) rows.push_back({0, name, *peak});
  }
  return rows;
}

}  // namespace qfs::run

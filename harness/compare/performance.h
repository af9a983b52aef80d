// Speed and memory out of the rows of a measure result: a number a repetition, then the median over
// repetitions with the smallest and largest; and where they were measured. Pure functions;
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "harness/store/rows.h"

namespace qfs::compare {

struct Repeated {
  double median = 0;  ///< of an even number: the mean of the two in the middle
  double low = 0;
  double high = 0;
  int64_t repetitions = 0;
};

/// Tokens per second of a phase, all units of a repetition together; std::nullopt when the phase
/// produced no token.
std::optional<Repeated> phase_rate(std::span<const store::MeasurementRow> rows,
                                   std::string_view phase);

/// The share of the machine's limit that a phase reached: the least time that its work takes at the
/// rates of the timed process, by the measured time. std::nullopt when a unit's work or the rates
/// are not stored.
std::optional<Repeated> phase_fraction(std::span<const store::MeasurementRow> rows,
                                       std::string_view phase);

/// Seconds of a phase, mean over the units of a repetition.
std::optional<Repeated> phase_latency(std::span<const store::MeasurementRow> rows,
                                      std::string_view phase);

/// Seconds of a phase by the number of examples of a repetition; `examples` > 0.
std::optional<Repeated> time_per_example(std::span<const store::MeasurementRow> rows,
                                         std::string_view phase, int64_t examples);

/// Floating-point operations of all phases by the number of examples of a repetition; `examples` >
/// 0. std::nullopt when the work of a phase is not stored.
std::optional<Repeated> flops_per_example(std::span<const store::MeasurementRow> rows,
                                          int64_t examples);

/// Joules of a counter ("processors", "device") by the number of examples of a repetition;
/// `examples` > 0. std::nullopt where the machine counted none.
std::optional<Repeated> joules_per_example(std::span<const store::MeasurementRow> rows,
                                           std::string_view counter, int64_t examples);

/// Peak of one kind of memory in bytes, the largest row of a repetition.
std::optional<Repeated> memory_peak(std::span<const store::MemoryRow> rows, std::string_view kind);

/// Of the device's allocator where it counted any, else of the host's process.
struct PeakMemory {
  Repeated bytes;
  bool of_device = false;
};
std::optional<PeakMemory> peak_memory(std::span<const store::MemoryRow> rows);

/// Times are compared where both are equal. JSON; empty where the store does not say it.
struct MeasuredAt {
  std::string machine;   ///< hardware and device
  std::string protocol;  ///< how many examples and repetitions, and what of them was timed
};

/// Out of the environment of a measure result.
Result<MeasuredAt> measured_at(const store::EnvironmentRow& environment);

}  // namespace qfs::compare

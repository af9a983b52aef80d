// The two clocks of the program: a monotonic one for durations and limits, the wall clock for log
// rows. Nothing that enters an id reads a clock. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace qfs {

int64_t monotonic_ns();

/// "2026-01-31T12:34:56.789Z" (UTC).
std::string wall_clock_utc();

/// Seconds since 1970 of such a text; std::nullopt for another.
std::optional<double> utc_seconds(const std::string& text);

}  // namespace qfs

// Work and the machine's limits among the measurements of a repetition: rows whose `tokens` count
// something else. "PHASE.flops" and "PHASE.bytes" hold what a phase of a unit had to compute and
// read (ns 0); "machine.read", "machine.copy" (bytes) and "machine.gemm" (operations) what the
// machine did in `ns` at most, under unit 0 of the last repetition of each process;
// "energy.processors" and "energy.device" the microjoules that all units of a repetition took.
//
// Written by run, read by reports. Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/work.h"
#include "harness/store/rows.h"

namespace qfs::store {

void add_work(int64_t unit, std::string_view phase, const Work& work,
              std::vector<MeasurementRow>& rows);
void add_limits(const MachineLimits& limits, std::vector<MeasurementRow>& rows);

/// What was added for a phase, by repetition and unit; nothing for a unit of which a row is
/// missing.
std::map<std::pair<int64_t, int64_t>, Work> works_among(std::span<const MeasurementRow> rows,
                                                        std::string_view phase);
/// The best limits of all repetitions; std::nullopt where one was never measured.
std::optional<MachineLimits> limits_among(std::span<const MeasurementRow> rows);

}  // namespace qfs::store

#include "harness/compare/performance.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "harness/core/json_dom.h"
#include "harness/store/work_rows.h"

namespace qfs::compare {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

/// What one repetition adds up to in one phase.
struct PhaseTotal {
  int64_t ns = 0;
  int64_t tokens = 0;
  int64_t units = 0;
};

std::map<int64_t, PhaseTotal> totals(std::span<const store::MeasurementRow> rows,
                                     std::string_view phase) {
  std::map<int64_t, PhaseTotal> by_repetition;
  for (const store::MeasurementRow& row : rows) {
    if (row.phase != phase) continue;
    PhaseTotal& total = by_repetition[row.repetition];
    total.ns += row.ns;
    total.tokens += row.tokens;
    ++total.units;
  }
  return by_repetition;
}

std::optional<Repeated> summarized(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return Repeated{median, values.front(), values.back(), static_cast<int64_t>(values.size())};
}

}  // namespace

std::optional<Repeated> phase_rate(std::span<const store::MeasurementRow> rows,
                                   std::string_view phase) {
  std::vector<double> rates;
  for (const auto& [repetition, total] : totals(rows, phase)) {
    if (total.tokens <= 0 || total.ns <= 0) return std::nullopt;
    rates.push_back(static_cast<double>(total.tokens) * kNanosecondsPerSecond /
                    static_cast<double>(total.ns));
  }
  return summarized(std::move(rates));
}

std::optional<Repeated> phase_fraction(std::span<const store::MeasurementRow> rows,
                                       std::string_view phase) {
  struct Sum {
    double least_seconds = 0;
    int64_t ns = 0;
  };
  const auto limits = store::limits_among(rows);
  if (!limits) return std::nullopt;
  const auto works = store::works_among(rows, phase);
  std::map<int64_t, Sum> by_repetition;
  for (const store::MeasurementRow& row : rows) {
    if (row.phase != phase) continue;
    if (row.tokens == 0) continue;  // nothing was done, which has no share of a limit
    const auto work = works.find({row.repetition, row.unit});
    if (work == works.end()) return std::nullopt;
    Sum& sum = by_repetition[row.repetition];
    sum.least_seconds += least_seconds(work->second, *limits);
    sum.ns += row.ns;
  }
  std::vector<double> fractions;
  for (const auto& [repetition, sum] : by_repetition) {
    if (sum.ns <= 0 || sum.least_seconds <= 0) return std::nullopt;
    fractions.push_back(sum.least_seconds * kNanosecondsPerSecond / static_cast<double>(sum.ns));
  }
  return summarized(std::move(fractions));
}

std::optional<Repeated> phase_latency(std::span<const store::MeasurementRow> rows,
                                      std::string_view phase) {
  std::vector<double> seconds;
  for (const auto& [repetition, total] : totals(rows, phase)) {
    seconds.push_back(static_cast<double>(total.ns) / kNanosecondsPerSecond /
                      static_cast<double>(total.units));
  }
  return summarized(std::move(seconds));
}

std::optional<Repeated> time_per_example(std::span<const store::MeasurementRow> rows,
                                         std::string_view phase, int64_t examples) {
  std::vector<double> seconds;
  for (const auto& [repetition, total] : totals(rows, phase)) {
    seconds.push_back(static_cast<double>(total.ns) / kNanosecondsPerSecond /
                      static_cast<double>(examples));
  }
  return summarized(std::move(seconds));
}

std::optional<Repeated> flops_per_example(std::span<const store::MeasurementRow> rows,
                                          int64_t examples) {
  std::set<std::string> phases;
  for (const store::MeasurementRow& row : rows) {
    const bool counts = row.phase.find('.') != std::string::npos;  // "decode.flops", "machine.read"
    if (!counts && row.phase != "total" && row.phase != "first_token") phases.insert(row.phase);
  }
  std::map<int64_t, double> by_repetition;
  for (const std::string& phase : phases) {
    const auto works = store::works_among(rows, phase);
    for (const store::MeasurementRow& row : rows) {
      if (row.phase != phase) continue;
      const auto work = works.find({row.repetition, row.unit});
      if (work != works.end()) {
        by_repetition[row.repetition] += static_cast<double>(work->second.flops);
      } else if (row.tokens > 0) {
        return std::nullopt;
      }
    }
  }
  std::vector<double> flops;
  for (const auto& [repetition, sum] : by_repetition) {
    flops.push_back(sum / static_cast<double>(examples));
  }
  return summarized(std::move(flops));
}

std::optional<Repeated> joules_per_example(std::span<const store::MeasurementRow> rows,
                                           std::string_view counter, int64_t examples) {
  constexpr double kMicrojoules = 1e6;
  std::vector<double> joules;
  for (const auto& [repetition, total] : totals(rows, "energy." + std::string(counter))) {
    joules.push_back(static_cast<double>(total.tokens) / kMicrojoules /
                     static_cast<double>(examples));
  }
  return summarized(std::move(joules));
}

std::optional<Repeated> memory_peak(std::span<const store::MemoryRow> rows, std::string_view kind) {
  std::map<int64_t, int64_t> peaks;
  for (const store::MemoryRow& row : rows) {
    if (row.kind != kind) continue;
    int64_t& peak = peaks[row.repetition];
    peak = std::max(peak, row.bytes);
  }
  std::vector<double> bytes;
  for (const auto& [repetition, peak] : peaks) bytes.push_back(static_cast<double>(peak));
  return summarized(std::move(bytes));
}

std::optional<PeakMemory> peak_memory(std::span<const store::MemoryRow> rows) {
  const auto device = memory_peak(rows, "device_allocated_peak");
  if (device && device->high > 0) return PeakMemory{*device, true};
  const auto host = memory_peak(rows, "host_peak");
  return host ? std::optional(PeakMemory{*host, false}) : std::nullopt;
}

Result<MeasuredAt> measured_at(const store::EnvironmentRow& environment) {
  const auto numerics = parse_json(environment.numerics.text, "numerics of a measurement");
  if (!numerics) return numerics.error();
  const auto probe = numerics->find("probe");
  if (probe == numerics->end() || !probe->is_object()) return MeasuredAt{};
  MeasuredAt at;
  nlohmann::json machine = nlohmann::json::object();
  for (const char* fact : {"hardware", "device", "device_name"}) {
    if (probe->contains(fact)) machine[fact] = probe->at(fact);
  }
  if (!machine.empty()) at.machine = machine.dump();
  if (probe->contains("measure")) at.protocol = probe->at("measure").dump();
  return at;
}

}  // namespace qfs::compare

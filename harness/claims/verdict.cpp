#include "harness/claims/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace qfs::claims {
namespace {

constexpr std::array<std::pair<State, std::string_view>, 5> kNames = {{
    {State::reproduced, "reproduced"},
    {State::within_interval, "within interval"},
    {State::differs, "differs"},
    {State::not_run, "not run"},
    {State::not_runnable, "not runnable"},
}};

/// Digits behind the point that the printed number has.
int decimals_of(const Printed& printed) {
  const double unit = 2 * printed.half_unit;
  return unit <= 0 ? 0 : std::max(0, static_cast<int>(std::lround(-std::log10(unit))));
}

}  // namespace

std::string_view to_string(State state) {
  for (const auto& [own, name] : kNames) {
    if (own == state) return name;
  }
  return "not run";
}

std::optional<State> state_named(std::string_view name) {
  for (const auto& [state, own] : kNames) {
    if (own == name) return state;
  }
  return std::nullopt;
}

State compare(const Printed& printed, double tolerance, const Measured& measured) {
  if (printed.bound) return measured.value < printed.value ? State::reproduced : State::differs;
  const double difference = std::abs(measured.value - printed.value);
  // Sums of doubles near a border of rounding are taken for the border itself.
  const double noise = 1e-9 * std::max({1.0, std::abs(measured.value), std::abs(printed.value)});
  if (difference < printed.half_unit - noise) return State::reproduced;
  if (tolerance > 0 && difference <= tolerance + noise) return State::reproduced;
  if (!measured.interval) {
    // A whole number that is printed whole.
    if (difference <= noise) return State::reproduced;
    return State::differs;
  }
  const bool holds = measured.interval->low <= printed.value - printed.half_unit &&
                     printed.value + printed.half_unit <= measured.interval->high;
  return holds ? State::within_interval : State::differs;
}

State compare_length(const Printed& printed, std::span<const int64_t> tries,
                     const Measured& measured) {
  const auto distance = [&](int64_t length) {
    return std::abs(static_cast<double>(length) - printed.value);
  };
  const int64_t nearest = *std::ranges::min_element(tries, {}, distance);
  return measured.value == static_cast<double>(nearest) ? State::reproduced : State::differs;
}

std::string measured_text(const Printed& printed, double value) {
  const int decimals = decimals_of(printed);
  const bool whole = decimals == 0 && (value == std::round(value) || printed.half_unit > 1);
  // On which side of a border of rounding it is must be seen.
  const double beyond = std::abs(value - printed.value) / printed.half_unit;
  const int more = beyond > 0.9 && beyond < 1.1 ? 2 : 1;
  return fmt::format("{:.{}f}", value, whole ? 0 : decimals + more);
}

}  // namespace qfs::claims

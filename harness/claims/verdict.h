// Verdicts: what a measured number says about a printed one.
//
// Called by the evaluator and by `verify`. Pure; thread-safe; cannot fail.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "harness/claims/printed.h"

namespace qfs::claims {

enum class State {
  reproduced,       ///< the measured number prints as the paper's, or is within its tolerance
  within_interval,  ///< it does not, but its interval holds every number that prints so
  differs,
  not_run,       ///< could be measured here, and is not yet
  not_runnable,  ///< cannot: the finding says why
};

/// "reproduced", "within interval", "differs", "not run", "not runnable".
std::string_view to_string(State state);
std::optional<State> state_named(std::string_view name);

struct Bounds {
  double low = 0;
  double high = 0;
};

/// A number in the unit of the printed one, with its confidence interval where it has one.
struct Measured {
  double value = 0;
  std::optional<Bounds> interval;
  int64_t n = 0;        ///< examples behind it; 0: not of examples
  int64_t missing = 0;  ///< examples without an output, left out or scored as empty
  std::string cell_id;  ///< full digests; empty where there is none
  std::string numerics_id;
  std::string score_id;
  std::string detail;  ///< what should be known beside it
};

/// Never in the paper's favour: a measured number on the border of two printed ones is the other
/// one, and an interval must hold the whole range that prints as the paper's number.
State compare(const Printed& printed, double tolerance, const Measured& measured);

/// Of the longest that fits among `tries`, of which a printed length, "<1.6K" too, means the one
/// nearest to it.
State compare_length(const Printed& printed, std::span<const int64_t> tries,
                     const Measured& measured);

/// With one digit more than is printed, two near a border of rounding; a whole number beside a
/// whole one as it is.
std::string measured_text(const Printed& printed, double value);

}  // namespace qfs::claims

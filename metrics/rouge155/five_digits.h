// Five decimals as ROUGE-1.5.5 keeps them: every recall, precision and F passes through
// sprintf("%7.5f"), and F is computed from the rounded other two.
//
// Called by Scorer and Resampling. Pure; thread-safe; values are finite and not negative.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace qfs::metrics::rouge155 {

/// As C prints it: the exact binary value, ties to the even digit.
inline std::string five_digits(double value) {
  char text[400];
  const int length = std::snprintf(text, sizeof(text), "%7.5f", value);
  return std::string(text, static_cast<size_t>(length));
}

/// The number that `five_digits(value)` reads as. Away from a tie one multiplication decides; near
/// one, where its error could, the printed form does.
inline double round_to_five_digits(double value) {
  constexpr double kUnit = 1e5;
  constexpr double kDoubt = 1e-6;
  const double scaled = value * kUnit;
  if (!(scaled < 1e9)) return std::strtod(five_digits(value).c_str(), nullptr);
  const double below = std::floor(scaled);
  const double rest = scaled - below;
  if (std::abs(rest - 0.5) < kDoubt) return std::strtod(five_digits(value).c_str(), nullptr);
  return (rest < 0.5 ? below : below + 1) / kUnit;
}

}  // namespace qfs::metrics::rouge155

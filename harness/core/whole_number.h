// A number that is a whole text, in the C locale.
//
// Called by readers of options, labels and foreign files. Pure; thread-safe; cannot fail.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace qfs {

/// Decimal, without white space or '+'; std::nullopt for anything else, for what the type does not
/// hold, and for a number that is not finite.
template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(number)) return std::nullopt;
  }
  return number;
}

}  // namespace qfs

// A number with its noun, as messages say it: "1 cell", "2 cells".
//
// Called by whatever tells people how many. Pure; thread-safe.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace qfs {

/// For words that change otherwise than by an "s": "1 cell is", "2 cells are".
template <std::integral Count>
std::string counted(Count count, std::string_view one, std::string_view several) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : several);
}

template <std::integral Count>
std::string counted(Count count, std::string_view noun) {
  return counted(count, noun, std::string(noun) + "s");
}

}  // namespace qfs

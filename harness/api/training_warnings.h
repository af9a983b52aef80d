// Warnings of trainings: values of a curve's last point that tables repeat under themselves, since
// they change what a result means ("warning.dead_hypernetwork"). Where a trained file says so, what
// is observed of an output that is written with it has the same.
//
// Told by methods that train, read by reports.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace qfs {

/// What their names begin with; the words of the warning follow.
inline constexpr std::string_view kTrainingWarning = "warning.";

/// "dead hypernetwork" of such a name.
inline std::string warning_words(std::string_view name) {
  std::string words(name.substr(kTrainingWarning.size()));
  std::ranges::replace(words, '_', ' ');
  return words;
}

}  // namespace qfs

// Warnings of trainings: values of a curve's last point that tables repeat under themselves, since
// they change what a result means ("warning.dead_hypernetwork").
//
// Told by methods that train, read by reports.
#pragma once

#include <string_view>

namespace qfs {

/// What their names begin with; the words of the warning follow.
inline constexpr std::string_view kTrainingWarning = "warning.";

}  // namespace qfs

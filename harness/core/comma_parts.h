// The parts of "a,b,c" as options of metrics and postprocessing steps are written.
//
// Called by their readers. Pure; thread-safe; cannot fail.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qfs {

/// Split at commas that no backslash precedes; "\," is a comma of a part. One part at least.
std::vector<std::string> comma_parts(std::string_view text);

}  // namespace qfs

// The option --fields of commands that read files of predictions.
//
// Used by score_command.cpp and compare_command.cpp. Pure; a part without '=' and a field that is
// named twice are usage errors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/api/result.h"

namespace qfs::cli {

/// "prediction=output,references=answers", in one argument or several: ours -> theirs.
Result<std::map<std::string, std::string>> parse_field_map(const std::vector<std::string>& texts);

}  // namespace qfs::cli

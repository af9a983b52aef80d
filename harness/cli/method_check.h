// method check: takes a program through the session protocol (describe, open, run, close) and says
// in words what it does wrong. The program runs as it would in a sweep.
//
// Called by `method check`. An error names the step and quotes the end of the program's own output.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/api/method.h"
#include "harness/api/result.h"

namespace qfs::cli {

struct MethodCheckOptions {
  std::vector<std::string> command;  ///< argv, no shell
  std::vector<std::string> params;   ///< "name=value", for parameters without a default
  int64_t timeout_seconds = 60;      ///< for each step
};

/// What was seen, when nothing is wrong.
Result<std::string> check_method(const MethodCheckOptions& options,
                                 std::span<const NumberedExample> examples);

}  // namespace qfs::cli

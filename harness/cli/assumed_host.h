// Another machine's way of computing, read from what `qfs-host probe` printed there, so that `plan`
// can say what a store holds of a sweep that will run there. Errors name the file. Thread-safe.
#pragma once

#include <string>

#include "harness/api/result.h"
#include "harness/run/run.h"

namespace qfs::cli {

Result<run::AssumedHost> read_assumed_host(const std::string& path);

}  // namespace qfs::cli

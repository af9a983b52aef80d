// Starts the qfs-host that lies beside this program, for questions that belong to no sweep.
//
// Called by `model` and `doctor`. Its output goes to the cache's logs. `unavailable` when it was
// not built or installed.
#pragma once

#include <string>

#include "harness/api/result.h"
#include "harness/host/client.h"

namespace qfs::cli {

/// Whether there is one.
bool has_tensor_host();

/// Where the output of a host with this log name is.
std::string tensor_host_log(const std::string& log_name);

Result<host::HostClient> start_tensor_host(const std::string& log_name);

}  // namespace qfs::cli

// Starts the qfs-host that lies beside this program, or that QFS_HOST names, for what belongs to no
// cell of a sweep.
//
// Called by `model`, `doctor` and hosted metrics. Its output goes to the cache's logs.
// `unavailable` when it was not built or installed.
#pragma once

#include <string>

#include "harness/api/result.h"
#include "harness/host/client.h"

namespace qfs::cli {

/// Whether there is one.
bool has_tensor_host();

/// Where the output of a host with this log name is.
std::string tensor_host_log(const std::string& log_name);

/// `unavailable` where there is none, with what provides it.
Status require_tensor_host();

/// `threads`: 0: one a core.
Result<host::HostClient> start_tensor_host(const std::string& log_name, int threads = 0);

}  // namespace qfs::cli

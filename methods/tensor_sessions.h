// The explicit list of sessions that need LibTorch: what qfs-host can run besides the light ones.
//
// Called by qfs-host; a test compares it with the specifications. Stateless; thread-safe.
#pragma once

#include <vector>

#include "harness/api/method.h"

namespace qfs::methods {

std::vector<SessionFactory> torch_sessions();

}  // namespace qfs::methods

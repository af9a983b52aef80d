// The explicit list of sessions that need no tensors: what `qfs-bench host` can run.
//
// Called by the applications; a test compares it with the specifications. Stateless; thread-safe.
#pragma once

#include <vector>

#include "harness/api/method.h"

namespace qfs::methods {

std::vector<SessionFactory> light_sessions();

}  // namespace qfs::methods

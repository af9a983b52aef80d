// The host side of methods that need no tensors: sessions of methods/light_sessions behind
// the session protocol.
//
// Called by qfs-bench's `host` subcommand in a process of its own. Computes on one thread of the
// CPU.
#pragma once

namespace qfs::apps {

/// Serves the descriptors that the driver named; the process's exit code.
int serve_light_host();

}  // namespace qfs::apps

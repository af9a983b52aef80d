// How many cores this process may use: its affinity, and the CPU quota of its cgroup where one is
// set.
//
// Called where threads are counted (hosts, environment rows). Thread-safe; cannot fail.
#pragma once

namespace qfs {

/// At least 1.
int available_cores();

}  // namespace qfs

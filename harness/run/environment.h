// Facts about this machine for environment rows and for the hardware fingerprint of measure
// results: kernel, CPU, memory, limits, relevant variables. No names of users, hosts or paths.
//
// Read from /proc and /sys; what cannot be read is left out. Thread-safe.
#pragma once

#include <string>

#include "harness/api/json.h"

namespace qfs::run {

/// Everything recorded beside a result; changes from run to run (load, free memory are not in it).
Json host_facts();

/// What makes times comparable: CPU model, cores available, memory size.
Json hardware_fingerprint();

}  // namespace qfs::run

// The remembered answers of hosts to `probe`, by program file (device, inode, size, mtime) and
// runtime options, in the user cache: `plan` and extractive sweeps then start no tensor host to
// learn ids.
//
// Used inside harness/run only. A cache that cannot be read or written is not used.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/api/method.h"

namespace qfs::run {

struct HostFacts;

/// Empty (never cached) when the program file cannot be found.
std::string probe_cache_key(const std::vector<std::string>& command, const RuntimeOptions& options);
std::optional<HostFacts> read_probe_cache(const std::string& key);
void write_probe_cache(const std::string& key, const HostFacts& facts);

}  // namespace qfs::run

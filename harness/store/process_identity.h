// Who a process is, so that a recycled pid is not mistaken for the one that wrote an attempt: pid,
// start time and boot id (Linux, /proc). Thread-safe; cannot fail (unknown parts are 0 or empty).
#pragma once

#include <cstdint>
#include <string>

namespace qfs::store {

struct ProcessIdentity {
  int64_t pid = 0;
  int64_t start_ticks = 0;  ///< since boot, field 22 of /proc/PID/stat; 0: unknown
  std::string boot_id;      ///< changes with every boot of every machine; empty: unknown

  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

ProcessIdentity this_process();

/// Whether exactly this process still runs here. A zombie does not; neither does one of another
/// boot or machine.
bool is_running(const ProcessIdentity& process);

}  // namespace qfs::store

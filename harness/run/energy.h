// What the processors of this machine have used, by the energy counters that Linux shows below
// /sys/class/powercap (RAPL: Intel since Sandy Bridge, AMD since Zen): all packages and their
// memory, whoever uses them.
//
// Used by measure_cell. A machine without such counters (most virtual ones), or whose counters only
// root may read, has no energy, which is not 0. Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace qfs::run {

inline constexpr const char* kPowercapFolder = "/sys/class/powercap";

class EnergyCounter {
 public:
  /// Reads each counter once.
  explicit EnergyCounter(const std::filesystem::path& folder = kPowercapFolder);

  /// Microjoules since the last call or the beginning. Counters begin anew at their own range, once
  /// between two calls at most. std::nullopt where there is none, or one can no longer be read; it
  /// stays so.
  std::optional<int64_t> take();

 private:
  struct Domain {
    std::filesystem::path counter;
    int64_t range = 0;
    int64_t last = 0;
  };
  std::vector<Domain> domains_;
};

}  // namespace qfs::run

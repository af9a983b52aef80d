#include "harness/run/energy.h"

#include <fstream>
#include <system_error>

#include "harness/core/whole_number.h"

namespace qfs::run {
namespace {

namespace fs = std::filesystem;

/// The first line; empty where it cannot be read.
std::string line_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<int64_t> number_of(const fs::path& path) {
  const auto number = whole_number<int64_t>(line_of(path));
  return number && *number >= 0 ? number : std::nullopt;
}

}  // namespace

// "intel-rapl:0" is a package and "intel-rapl:0:0" a part of it. Cores and graphics are in their
// package, memory is not; "psys" is the whole platform, packages included.
EnergyCounter::EnergyCounter(const fs::path& folder) {
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    if (!entry.path().filename().string().starts_with("intel-rapl:")) continue;
    const std::string name = line_of(entry.path() / "name");
    if (!name.starts_with("package") && name != "dram") continue;
    const fs::path counter = entry.path() / "energy_uj";
    const auto range = number_of(entry.path() / "max_energy_range_uj");
    const auto now = number_of(counter);
    if (!range || !now) {
      domains_.clear();
      return;
    }
    domains_.push_back({counter, *range, *now});
  }
}

std::optional<int64_t> EnergyCounter::take() {
  if (domains_.empty()) return std::nullopt;
  int64_t used = 0;
  for (Domain& domain : domains_) {
    const auto now = number_of(domain.counter);
    if (!now) {
      domains_.clear();
      return std::nullopt;
    }
    used += *now - domain.last + (*now < domain.last ? domain.range + 1 : 0);
    domain.last = *now;
  }
  return used;
}

}  // namespace qfs::run

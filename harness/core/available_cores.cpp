#include "harness/core/available_cores.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace qfs {
namespace {

/// CPU quota of the cgroup in whole cores, or 0 when unlimited or not visible.
int cgroup_cores() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
  return std::max(1, static_cast<int>(std::stod(quota) / period));
}

}  // namespace

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  if (const int quota = cgroup_cores(); quota > 0) cores = std::min(cores, quota);
  return std::max(1, cores);
}

}  // namespace qfs

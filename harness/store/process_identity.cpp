#include "harness/store/process_identity.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace qfs::store {
namespace {

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

struct ProcessStat {
  char state = 0;  ///< 0: no such process
  int64_t start_ticks = 0;
};

ProcessStat process_stat(int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  // The second field is the program's name in parentheses and may itself contain any character.
  const size_t name_end = line.rfind(')');
  if (name_end == line.npos) return {};
  std::istringstream fields(line.substr(name_end + 1));
  ProcessStat stat;
  fields >> stat.state;
  constexpr int kFieldsBetweenStateAndStart = 18;
  std::string skipped;
  for (int i = 0; i < kFieldsBetweenStateAndStart; ++i) fields >> skipped;
  fields >> stat.start_ticks;
  return stat;
}

}  // namespace

ProcessIdentity this_process() {
  const int64_t pid = ::getpid();
  return {pid, process_stat(pid).start_ticks, boot_id()};
}

bool is_running(const ProcessIdentity& process) {
  if (process.boot_id != boot_id()) return false;
  const ProcessStat stat = process_stat(process.pid);
  if (stat.state == 0 || stat.state == 'Z' || stat.state == 'X') return false;
  return stat.start_ticks == process.start_ticks;
}

}  // namespace qfs::store

// Memory and processor time of a process from /proc/<pid> (proc(5)).
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <sstream>
#include <string_view>

#include "harness/core/child_process.h"
#include "harness/core/files.h"
#include "harness/core/unique_fd.h"

namespace qfs {
namespace {

/// The value of a line "Name:   123 kB", in bytes; std::nullopt when there is none.
std::optional<int64_t> kilobytes_field(std::string_view status, std::string_view name) {
  const size_t line = status.find(name);
  if (line == status.npos) return std::nullopt;
  std::string_view rest = status.substr(line + name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  int64_t kilobytes = 0;
  if (std::from_chars(rest.data(), rest.data() + rest.size(), kilobytes).ec != std::errc()) {
    return std::nullopt;
  }
  return kilobytes * 1024;
}

}  // namespace

ProcessMemory process_memory(pid_t pid) {
  constexpr uint64_t kLongestStatus = 1U << 16U;
  const Result<std::string> status =
      read_file("/proc/" + std::to_string(pid) + "/status", kLongestStatus);
  if (!status) return {};
  ProcessMemory memory;
  memory.resident_bytes = kilobytes_field(*status, "\nVmRSS:").value_or(0);
  memory.peak_bytes = kilobytes_field(*status, "\nVmHWM:").value_or(0);
  // Kernels without RssAnon (before 4.5): the whole resident set, so that limits still hold.
  memory.anonymous_bytes = kilobytes_field(*status, "\nRssAnon:").value_or(memory.resident_bytes);
  return memory;
}

int64_t processor_ticks(pid_t pid) {
  constexpr uint64_t kLongestStat = 1U << 14U;
  const Result<std::string> stat =
      read_file("/proc/" + std::to_string(pid) + "/stat", kLongestStat);
  if (!stat) return 0;
  // The name of the program, in parentheses, may hold anything; state is the first field after it.
  std::istringstream fields(stat->substr(std::min(stat->rfind(')') + 1, stat->size())));
  constexpr int kFieldsBeforeTimes = 11;
  std::string skipped;
  for (int i = 0; i < kFieldsBeforeTimes; ++i) fields >> skipped;
  int64_t user = 0;
  int64_t system = 0;
  fields >> user >> system;
  return user + system;
}

bool reset_own_peak_memory() {
  const UniqueFd fd(::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
  return fd.valid() && ::write(fd.get(), "5", 1) == 1;
}

}  // namespace qfs

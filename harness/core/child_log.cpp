// Keeps the logs of children bounded: of one that is too long the beginning and the end stay.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "harness/core/child_process.h"
#include "harness/core/unique_fd.h"

namespace qfs {

void ChildProcess::bound_log() const {
  struct stat facts {};
  if (log_path_.empty() || ::stat(log_path_.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      facts.st_size <= kMostLogBytes) {
    return;
  }
  const UniqueFd file(::open(log_path_.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  if (!file.valid()) return;
  std::string tail(static_cast<size_t>(kKeptLogBytes), '\0');
  const ssize_t got = ::pread(file.get(), tail.data(), tail.size(), facts.st_size - kKeptLogBytes);
  if (got <= 0) return;
  tail.resize(static_cast<size_t>(got));
  tail.erase(0, tail.find('\n') + 1);
  // The child appends, so that it goes on behind what stands here. What it writes at this very
  // moment may be lost.
  if (::ftruncate(file.get(), kKeptLogBytes) != 0) return;
  tail.insert(0, "\n[" + std::to_string(facts.st_size - kKeptLogBytes - got) +
                     " bytes of output are left out here]\n");
  static_cast<void>(::write(file.get(), tail.data(), tail.size()) > 0);
}

}  // namespace qfs

#include "harness/store/store_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>
#include <string>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/system_error.h"

namespace qfs::store {
namespace {

/// The pid that the holder wrote into the lock file, or "unknown".
std::string holder(int fd) {
  std::array<char, 32> bytes{};
  const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), 0);
  std::string pid(bytes.data(), got > 0 ? static_cast<size_t>(got) : 0);
  pid.erase(std::min(pid.find('\n'), pid.size()));
  const bool digits = !pid.empty() && pid.find_first_not_of("0123456789") == pid.npos;
  return digits ? pid : "unknown";
}

}  // namespace

Result<StoreLock> StoreLock::acquire(const std::string& store_path) {
  const std::string path = store_path + ".lock";
  constexpr mode_t kMode = 0644;
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kMode));
  if (!fd.valid()) {
    return store_error("the lock file cannot be made: " + error_text(errno) +
                           "; a store needs a folder that can be written",
                       path);
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return store_error("the lock file cannot be locked: " + error_text(errno), path);
    }
    return store_error("another qfs-bench writes this store (process " + holder(fd.get()) +
                           "); wait for it to end or use another --store",
                       store_path);
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  // Only messages use the content; a full disk shows when the store itself is written.
  if (::ftruncate(fd.get(), 0) == 0) {
    static_cast<void>(::pwrite(fd.get(), pid.data(), pid.size(), 0) > 0);
  }
  return StoreLock(std::move(fd));
}

bool StoreLock::held(const std::string& store_path) {
  constexpr uint64_t kLongestList = uint64_t{16} << 20;
  struct stat file {};
  if (::stat((store_path + ".lock").c_str(), &file) != 0) return false;
  const Result<std::string> locks = read_file("/proc/locks", kLongestList);
  if (!locks) return false;
  const std::string place = ":" + std::to_string(file.st_ino) + " ";
  std::istringstream lines(*locks);
  for (std::string line; std::getline(lines, line);) {
    const bool waits = line.find("->") != line.npos;
    if (!waits && line.find(" FLOCK ") != line.npos && line.find(place) != line.npos) return true;
  }
  return false;
}

}  // namespace qfs::store

#include "harness/core/files.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "harness/core/system_error.h"
#include "harness/core/unique_fd.h"

namespace qfs {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 16;

Error too_large(const std::string& path, uint64_t max_bytes) {
  return data_error("cannot read '" + path + "': larger than the allowed " +
                    std::to_string(max_bytes) + " bytes");
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// A name in `folder` that no other process or thread uses.
std::string temporary_name(const std::string& folder) {
  uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) {
    random = static_cast<uint64_t>(::getpid());
  }
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "/.qfs-tmp-%016llx",
                static_cast<unsigned long long>(random));
  return folder + name.data();
}

/// 0, or the errno of the write that failed.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

Result<std::string> read_file(const std::string& path, uint64_t max_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (!fd.valid() || ::fstat(fd.get(), &facts) != 0) return read_failure(errno, path);
  if (S_ISDIR(facts.st_mode)) return read_failure(EISDIR, path);
  const auto announced = static_cast<uint64_t>(std::max<off_t>(facts.st_size, 0));
  if (S_ISREG(facts.st_mode) && announced > max_bytes) return too_large(path, max_bytes);
  // The size is a hint: files of /proc announce 0, pipes nothing, and a file may grow meanwhile.
  std::string bytes;
  size_t used = 0;
  bytes.resize(std::min(announced, max_bytes) + 1);
  while (true) {
    if (used == bytes.size()) bytes.resize(bytes.size() + std::max(kBlockBytes, bytes.size() / 2));
    const ssize_t got = ::read(fd.get(), bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return read_failure(errno, path);
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (used > max_bytes) return too_large(path, max_bytes);
  }
  bytes.resize(used);
  return bytes;
}

Status write_file_atomic(const std::string& path, std::string_view bytes) {
  const std::string folder = folder_of(path);
  const std::string temporary = temporary_name(folder);
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd.valid()) return write_failure(errno, path);
  int failed = write_all(fd.get(), bytes);
  if (failed == 0 && ::fsync(fd.get()) != 0) failed = errno;
  if (failed == 0 && ::close(fd.release()) != 0) failed = errno;  // network file systems tell here
  if (failed == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) failed = errno;
  if (failed != 0) {
    ::unlink(temporary.c_str());
    return write_failure(failed, path);
  }
  // The rename itself must survive a crash. Some file systems cannot sync a folder (EINVAL).
  const UniqueFd folder_fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_fd.valid()) return {};  // a folder may be writable without being readable
  if (::fsync(folder_fd.get()) != 0 && errno != EINVAL) return write_failure(errno, path);
  return {};
}

Status make_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return write_failure(error.value(), path);
  if (!std::filesystem::is_directory(path, error)) return write_failure(ENOTDIR, path);
  return {};
}

}  // namespace qfs

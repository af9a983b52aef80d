#include "harness/core/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "harness/core/log.h"
#include "harness/core/system_error.h"
#include "harness/core/whole_number.h"

namespace qfs {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 16;
/// How long nothing may come before the user is told what is waited for.
constexpr std::chrono::milliseconds kSilentWait(1000);

Error too_large(const std::string& path, uint64_t max_bytes) {
  return data_error("cannot read '" + path + "': larger than the allowed " +
                    std::to_string(max_bytes) + " bytes");
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// What names of files begin with that are not whole yet.
const std::string kTemporary = ".qfs-tmp-";

/// A name in `folder` that no other process or thread uses.
std::string temporary_name(const std::string& folder) {
  uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) {
    random = static_cast<uint64_t>(::getpid());
  }
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "%016llx", static_cast<unsigned long long>(random));
  return folder + "/" + kTemporary + name.data();
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

/// What a path names that is neither a file nor a folder.
std::string_view kind_in_words(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO (pipe)";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Endless devices are no input; a terminal and /dev/null are.
bool may_be_read_once(int fd, const struct stat& facts) {
  if (S_ISCHR(facts.st_mode)) return ::isatty(fd) == 1 || facts.st_rdev == makedev(1, 3);
  return S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode);
}

/// Where bytes for a path go: a file to be replaced, or something that is written to as it is.
struct Target {
  std::string path;                   ///< behind links
  std::optional<struct stat> before;  ///< none: it is not there yet
  int descriptor = -1;                ///< of this process, as /dev/stdout names one
};

/// /proc/self/fd/N names what the descriptor N is, wherever that lies now.
std::optional<int> own_descriptor(const std::string& folder, std::string_view name) {
  if (folder != "/proc/" + std::to_string(::getpid()) + "/fd") return std::nullopt;
  return whole_number<int>(name);
}

/// Follows links, also one to a file that is not there yet.
Result<Target> target_of(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel's
  Target target{path, std::nullopt, -1};
  for (int links = 0; links <= kMostLinks; ++links) {
    const std::string folder = folder_of(target.path);
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(folder.c_str(), nullptr),
                                                           &std::free);
    if (!real) return write_failure(errno, path);
    const std::string name = target.path.substr(target.path.rfind('/') + 1);
    if (const auto number = own_descriptor(real.get(), name)) {
      target.descriptor = *number;
      return target;
    }
    struct stat facts {};
    if (::lstat(target.path.c_str(), &facts) != 0) {
      if (errno == ENOENT) return target;
      return write_failure(errno, path);
    }
    if (!S_ISLNK(facts.st_mode)) {
      target.before = facts;
      return target;
    }
    std::error_code error;
    const std::filesystem::path next = std::filesystem::read_symlink(target.path, error);
    if (error) return write_failure(error.value(), path);
    target.path = next.is_absolute() ? next.string() : folder + "/" + next.string();
  }
  return write_failure(ELOOP, path);
}

/// Whoever may not write a file may not replace it either, and the new one is as open as the old.
int take_over(int fd, const std::string& path, const struct stat& before) {
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) return errno;
  // Only root can give files away; for others the new file is theirs.
  if (::fchown(fd, before.st_uid, before.st_gid) != 0 && errno != EPERM) return errno;
  return ::fchmod(fd, before.st_mode & 07777U) == 0 ? 0 : errno;
}

int write_all(int fd, std::span<const std::string_view> pieces) {
  for (const std::string_view bytes : pieces) {
    if (const int failed = write_all(fd, bytes); failed != 0) return failed;
  }
  return 0;
}

/// A new name in the folder must survive a crash. Some file systems cannot sync one (EINVAL).
Status sync_folder(const std::string& folder, const std::string& path) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return {};  // a folder may be writable without being readable
  if (::fsync(fd.get()) != 0 && errno != EINVAL) return write_failure(errno, path);
  return {};
}

Status replace_file(const Target& target, std::span<const std::string_view> pieces) {
  const std::string folder = folder_of(target.path);
  const std::string temporary = temporary_name(folder);
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd.valid()) return write_failure(errno, target.path);
  int failed = target.before ? take_over(fd.get(), target.path, *target.before) : 0;
  if (failed == 0) failed = write_all(fd.get(), pieces);
  if (failed == 0 && ::fsync(fd.get()) != 0) failed = errno;
  if (failed == 0 && ::close(fd.release()) != 0) failed = errno;  // network file systems tell here
  if (failed == 0 && ::rename(temporary.c_str(), target.path.c_str()) != 0) failed = errno;
  if (failed != 0) {
    ::unlink(temporary.c_str());
    return write_failure(failed, target.path);
  }
  return sync_folder(folder, target.path);
}

/// A FIFO is opened when somebody reads it; the wait is told.
UniqueFd open_special(const std::string& path) {
  constexpr std::chrono::milliseconds kPause(20);
  for (auto waited = kPause * 0; waited < kSilentWait; waited += kPause) {
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (fd.valid()) {
      ::fcntl(fd.get(), F_SETFL, O_WRONLY);
      return fd;
    }
    if (errno != ENXIO) return fd;
    std::this_thread::sleep_for(kPause);
  }
  log_info("waiting for a program to read the FIFO '" + path + "'");
  return UniqueFd(::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
}

Status write_special(const Target& target, std::span<const std::string_view> pieces) {
  if (target.descriptor >= 0) {
    const int failed = write_all(target.descriptor, pieces);
    return failed == 0 ? Status() : write_failure(failed, target.path);
  }
  if (S_ISSOCK(target.before->st_mode)) {
    return invalid_argument("cannot write '" + target.path + "': it is a socket");
  }
  UniqueFd fd = open_special(target.path);
  if (!fd.valid()) return write_failure(errno, target.path);
  int failed = write_all(fd.get(), pieces);
  if (failed == 0 && ::close(fd.release()) != 0) failed = errno;
  return failed == 0 ? Status() : write_failure(failed, target.path);
}

}  // namespace

Result<UniqueFd> open_input(const std::string& path, InputKind kind) {
  // Opening a FIFO that nobody writes to would block.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat facts {};
  if (!fd.valid() && errno == ENXIO) return data_error("cannot read '" + path + "': a socket");
  if (!fd.valid() || ::fstat(fd.get(), &facts) != 0) return read_failure(errno, path);
  if (S_ISDIR(facts.st_mode)) return read_failure(EISDIR, path);
  if (!S_ISREG(facts.st_mode)) {
    const std::string what(kind_in_words(facts.st_mode));
    if (kind == InputKind::regular) {
      return data_error("cannot read '" + path + "': it is " + what +
                        ", and a regular file is needed, which can be read again");
    }
    if (!may_be_read_once(fd.get(), facts)) {
      return data_error("cannot read '" + path + "': it is " + what);
    }
    wait_for_input(fd.get(), "'" + path + "'");
  }
  if (::fcntl(fd.get(), F_SETFL, O_RDONLY) != 0) return read_failure(errno, path);
  return fd;
}

void wait_for_input(int fd, const std::string& name) {
  pollfd ready{fd, POLLIN, 0};
  if (::poll(&ready, 1, static_cast<int>(kSilentWait.count())) != 0) return;
  log_info("waiting for input from " + name);
  while (::poll(&ready, 1, -1) < 0 && errno == EINTR) continue;
}

Result<std::string> read_file(const std::string& path, uint64_t max_bytes) {
  const Result<UniqueFd> input = open_input(path);
  if (!input) return input.error();
  const UniqueFd& fd = *input;
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return read_failure(errno, path);
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

Status write_file(const std::string& path, std::string_view bytes) {
  return write_file(path, std::span(&bytes, 1));
}

Status write_file(const std::string& path, std::span<const std::string_view> pieces) {
  const Result<Target> target = target_of(path);
  if (!target) return target.error();
  const bool file = target->descriptor < 0 && (!target->before || S_ISREG(target->before->st_mode));
  if (file) return replace_file(*target, pieces);
  if (target->descriptor < 0 && S_ISDIR(target->before->st_mode)) {
    return write_failure(EISDIR, path);
  }
  return write_special(*target, pieces);
}

Result<bool> create_file(const std::string& path, std::string_view bytes) {
  const Result<Target> target = target_of(path);
  if (!target) return target.error();
  if (target->descriptor >= 0 || target->before) return false;
  const std::string folder = folder_of(target->path);
  const std::string temporary = temporary_name(folder);
  if (Status written = write_file(temporary, bytes); !written) return written.error();
  const int failed = ::link(temporary.c_str(), target->path.c_str()) == 0 ? 0 : errno;
  ::unlink(temporary.c_str());
  if (failed == EEXIST) return false;
  if (failed != 0) return write_failure(failed, path);
  if (Status kept = sync_folder(folder, path); !kept) return kept.error();
  return true;
}

void remove_unfinished(const std::string& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> unfinished;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(kTemporary)) {
      unfinished.push_back(entry.path());
    }
  }
  for (const auto& path : unfinished) std::filesystem::remove(path, error);
}

Status make_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return write_failure(error.value(), path);
  if (!std::filesystem::is_directory(path, error)) return write_failure(ENOTDIR, path);
  return {};
}

}  // namespace qfs

// Where this user's cache, the program's data and the executable lie.
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "harness/core/files.h"

namespace qfs {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string home_directory() {
  if (std::string home = variable("HOME"); !home.empty()) return home;
  std::vector<char> buffer(size_t{1} << 14);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
      found != nullptr && found->pw_dir != nullptr) {
    return found->pw_dir;
  }
  return "/";
}

}  // namespace

std::string cache_directory() {
  if (std::string own = variable("QFS_CACHE_DIR"); !own.empty()) return own;
  // The XDG base directory specification says that a relative path is ignored.
  if (const std::string xdg = variable("XDG_CACHE_HOME"); xdg.starts_with('/')) {
    return xdg + "/qfs-bench";
  }
  return home_directory() + "/.cache/qfs-bench";
}

std::string executable_directory() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "." : program.parent_path().string();
}

std::string program_data_directory() {
  if (std::string own = variable("QFS_DATA_DIR"); !own.empty()) return own;
  const std::filesystem::path installed =
      std::filesystem::path(executable_directory()).parent_path() / "share" / "qfs-bench";
  std::error_code error;
  if (std::filesystem::is_directory(installed, error)) return installed.string();
  return QFS_SOURCE_DIR;
}

}  // namespace qfs

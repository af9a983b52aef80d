#include "harness/store/private_copy.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "harness/core/system_error.h"

namespace qfs::store {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPrefix = "qfs-store-";

/// Copies of processes that were killed before they could remove them.
void remove_orphans(const fs::path& place) {
  std::error_code error;
  for (fs::directory_iterator it(place, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const char* const digits = name.c_str() + std::string_view(kPrefix).size();
    char* rest = nullptr;
    const long pid = std::strtol(digits, &rest, 10);
    if (rest == digits || *rest != '-' || pid <= 0) continue;
    struct stat facts {};
    const bool ours = ::lstat(it->path().c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
                      facts.st_uid == ::geteuid();
    std::error_code ignored;
    if (ours && ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) {
      fs::remove_all(it->path(), ignored);
    }
  }
}

}  // namespace

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

Result<TemporaryFolder> make_private_folder(const std::string& for_what) {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  if (!error) remove_orphans(place);
  std::string pattern = (place / (kPrefix + std::to_string(::getpid()) + "-XXXXXX")).string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    return store_error("no temporary folder for a copy can be made: " +
                           (error ? error.message() : error_text(errno)),
                       for_what);
  }
  return TemporaryFolder(pattern);
}

Result<PrivateCopy> copy_to_private_folder(const fs::path& source) {
  Result<TemporaryFolder> folder = make_private_folder(source.string());
  if (!folder) return folder.error();
  const fs::path copy = folder->path() / "foreign.sqlite";
  std::error_code error;
  bool copied = fs::copy_file(source, copy, error);
  const fs::path log = source.string() + "-wal";
  if (copied && fs::is_regular_file(log)) {
    copied = fs::copy_file(log, copy.string() + "-wal", error);
  }
  if (!copied) {
    return store_error(
        "the store cannot be copied to " + folder->path().string() + ": " + error.message(),
        source.string());
  }
  return PrivateCopy{*std::move(folder), copy};
}

}  // namespace qfs::store

#include "harness/store/private_copy.h"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <system_error>

namespace qfs::store {

namespace fs = std::filesystem;

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

Result<TemporaryFolder> make_private_folder(const std::string& for_what) {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "qfs-store-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    return store_error("no temporary folder for a copy can be made", for_what);
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
    return store_error("the store cannot be copied to " + folder->path().string(), source.string());
  }
  return PrivateCopy{*std::move(folder), copy};
}

}  // namespace qfs::store

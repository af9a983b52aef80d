// A stranger's store copied where nobody else writes, before a byte of it is trusted. Private to
// harness/store (Reader, merge). Thread-safe; removing the copy cannot fail in a way a caller would
// notice.
#pragma once

#include <filesystem>
#include <utility>

#include "harness/api/result.h"

namespace qfs::store {

/// A private folder that disappears with its owner; empty when nothing was copied.
class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A new folder that only this user can enter. Removes those of this user's processes that are
/// gone.
Result<TemporaryFolder> make_private_folder(const std::string& for_what);

struct PrivateCopy {
  TemporaryFolder folder;
  std::filesystem::path file;
};

/// Copies a store's file, and its log when it was not closed properly.
Result<PrivateCopy> copy_to_private_folder(const std::filesystem::path& source);

}  // namespace qfs::store

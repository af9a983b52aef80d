// ReaderState: what a Reader holds, a read-only connection and, for a foreign store, the private
// folder with its copy. Private to reader_*.cpp. Not thread-safe; removing the folder cannot fail
// in a way a caller would notice.
#pragma once

#include <filesystem>
#include <utility>

#include "harness/store/reader.h"
#include "harness/store/sqlite.h"

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

 private:
  std::filesystem::path path_;
};

struct ReaderState {
  TemporaryFolder folder;  // declared before the connection: removed after it is closed
  Connection db;
};

}  // namespace qfs::store

// Where real data sets lie, when they do: $QFS_SHARED_DIR/data, else ../shared/data beside the
// source tree (tests run in its root). Tests that need one skip with its name when it is absent.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace qfs::test {

inline std::filesystem::path shared_data(const std::string& relative) {
  const char* root = std::getenv("QFS_SHARED_DIR");
  return std::filesystem::path(root != nullptr ? root : "../shared") / "data" / relative;
}

}  // namespace qfs::test

// Ends a test as skipped, naming the file, when real data are not on this machine.
#define QFS_SKIP_WITHOUT_DATA(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "real data absent: " << (path).string()

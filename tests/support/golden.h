// Golden files: expected text beside the test. QFS_UPDATE_GOLDEN=1 rewrites them instead of
// comparing. Used by tests; compares exactly, so paths and times must be kept out of what is
// compared.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace qfs::test {

/// The bytes of a file; std::nullopt when it cannot be opened.
inline std::optional<std::string> file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

/// Expects that the file at `path` (relative to the source tree) holds `actual`.
inline void expect_golden(const std::string& path, const std::string& actual) {
  if (std::getenv("QFS_UPDATE_GOLDEN") != nullptr) {
    std::ofstream out(path, std::ios::binary);
    ASSERT_TRUE(out << actual) << "cannot write " << path;
    return;
  }
  const std::optional<std::string> expected = file_text(path);
  ASSERT_TRUE(expected) << path << " is missing; QFS_UPDATE_GOLDEN=1 writes it";
  EXPECT_EQ(actual, *expected) << "differs from " << path;
}

}  // namespace qfs::test

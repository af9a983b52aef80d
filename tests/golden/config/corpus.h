// The corpus of sweep files in tests/golden/config/{good,bad}: names of its files, sorted.
// Used by the tests of this folder, which run in the source tree's root. Thread-safe; a folder that
// cannot be read throws.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace qfs::test {

inline const std::string kCorpus = "tests/golden/config/";

/// Paths without extension of the sweep files in `folder`, e.g. "tests/golden/config/bad/no_name".
inline std::vector<std::string> corpus_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus + folder)) {
    std::filesystem::path path = entry.path();
    if (path.extension() == ".json") files.push_back(path.replace_extension().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace qfs::test

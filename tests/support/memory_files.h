// The files of a published set as texts of a test, under the paths that its reader asks for.
//
// `read_set` reads one split of a set of datasets/readers/file_set.h out of them; errors call a
// file by its path alone. Not thread-safe.
#pragma once

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <string>

#include "datasets/readers/file_set.h"
#include "harness/core/sha256.h"

namespace qfs::test {

class MemoryFiles : public datasets::SetFiles {
 public:
  explicit MemoryFiles(std::map<std::string, std::string> texts) : texts_(std::move(texts)) {}

  Result<std::vector<std::string>> matching(const std::string& pattern) const override {
    std::vector<std::string> paths;
    for (const auto& [path, text] : texts_) {
      if (fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0) paths.push_back(path);
    }
    return paths;
  }

 protected:
  Result<datasets::LoadedFile> bytes_of(const std::string& path) const override {
    const auto text = texts_.find(path);
    if (text == texts_.end()) return unavailable("no such file", path);
    return datasets::LoadedFile{
        path, text->second, {path, sha256_hex(text->second), std::ssize(text->second)}};
  }

 private:
  std::map<std::string, std::string> texts_;
};

inline Result<std::vector<Example>> read_set(const std::string& name, const std::string& split,
                                             std::map<std::string, std::string> texts) {
  static const std::vector<datasets::FileSet> sets = datasets::file_sets();
  const auto set = std::ranges::find(sets, name, [](const auto& set) { return set.info.name; });
  if (set == sets.end()) return not_found("no set '" + name + "'");
  MemoryFiles files(std::move(texts));
  DatasetRequest request;
  request.split = split;
  return set->examples(files, request);
}

}  // namespace qfs::test

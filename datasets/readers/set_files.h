// SetFiles: the files of one published set on this machine, as its format's reader asks for them.
//
// Registered files are verified by their pinned SHA-256; those of a set that nobody may or can
// fetch are taken as they lie, and their digests are part of the data's identity all the same. What
// was loaded is kept for the manifest. Not thread-safe; an absent file is `unavailable`.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/source_files.h"
#include "harness/api/result.h"

namespace qfs::datasets {

class SetFiles {
 public:
  virtual ~SetFiles() = default;

  /// Paths below the set's folder that match a glob pattern ('*' stays inside a folder), sorted.
  virtual Result<std::vector<std::string>> matching(const std::string& pattern) const = 0;

  /// One file, decompressed when its name ends in .gz; ill-formed UTF-8 is a `data` error.
  Result<LoadedFile> load(const std::string& path);

  /// What was loaded, sorted by name.
  std::vector<SourceFile> loaded() const;

 protected:
  virtual Result<LoadedFile> bytes_of(const std::string& path) const = 0;

 private:
  std::vector<SourceFile> loaded_;
};

/// The pinned files of a registered set.
Result<std::unique_ptr<SetFiles>> pinned_files(const RegistryEntry& entry,
                                               std::span<const std::string> roots);

/// Whatever lies in a folder; `set` and `layout` (what belongs there) are for errors.
std::unique_ptr<SetFiles> files_below(const std::string& folder, const std::string& set,
                                      const std::string& layout);

}  // namespace qfs::datasets

// The registry of data sets that are fetched: where each file comes from, its size and SHA-256.
//
// Read from datasets/registry.json by the readers (to verify what they read) and by `fetch`. A file
// that is not pinned there is never read or downloaded. Thread-safe; a malformed registry is a
// `data` error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"

namespace qfs::datasets {

/// One file of a registered set. `path` is relative to the set's folder, with '/', never leaving
/// it.
struct PinnedFile {
  std::string path;
  std::string sha256;
  int64_t bytes = 0;
};

struct RegistryEntry {
  std::string name;
  std::string shared_folder = "";  ///< of sets that lie in one folder; empty: one of its own
  std::string licence;
  std::string source;    ///< where people find it
  std::string base_url;  ///< ends with '/'; a file's address is base_url + path
  bool no_redistribution = false;
  std::vector<PinnedFile> files;  ///< sorted by path

  /// Where its files lie below a root.
  const std::string& folder() const { return shared_folder.empty() ? name : shared_folder; }
};

/// Parses registry JSON; `source` names it in errors.
Result<std::vector<RegistryEntry>> parse_registry(std::string_view text, std::string_view source);

/// All entries of a registry file.
Result<std::vector<RegistryEntry>> read_registry(const std::string& path);

/// The entry with this name; `not_found` suggests the nearest.
Result<RegistryEntry> registry_entry(const std::string& path, std::string_view name);

}  // namespace qfs::datasets

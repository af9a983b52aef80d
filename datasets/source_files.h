// Where the files of a data set lie on this machine, and their bytes with the digest that proves
// them.
//
// Called by the readers. Registered sets are looked for in each root's folder of their name; what
// is read must have its pinned SHA-256 (`data` error otherwise). Thread-safe.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "datasets/registry.h"
#include "harness/api/dataset.h"
#include "harness/api/result.h"

namespace qfs::datasets {

/// $QFS_DATASETS_DIR (when set), then cache_directory()/datasets.
std::vector<std::string> default_dataset_roots();

/// `folder` below the first root that has it; `unavailable` says where `set` was looked for and how
/// it gets there.
Result<std::string> locate_folder(const std::string& set, const std::string& folder,
                                  std::span<const std::string> roots, const std::string& how);

/// The same of a registered set, with the command that fetches it.
Result<std::string> locate_set(const RegistryEntry& entry, std::span<const std::string> roots);

/// Name, licence and source of a registered set.
DatasetManifest manifest_of(const RegistryEntry& entry);

struct LoadedFile {
  std::string path;  ///< on this machine, for errors
  std::string bytes;
  SourceFile source;  ///< for the manifest
};

/// A file of a registered set, verified. `set` names it in errors.
Result<LoadedFile> load_pinned(const std::string& set, const std::string& folder,
                               const PinnedFile& file);

/// A verified file of a registered set and the manifest of that set, which lists it.
struct RegisteredFile {
  LoadedFile file;
  DatasetManifest manifest;
};

/// The file `path` of the set `name`, found in the registry and below the roots. A path that is not
/// pinned is a `data` error.
Result<RegisteredFile> load_registered(const std::string& registry_path,
                                       std::span<const std::string> roots, const std::string& name,
                                       const std::string& path);

/// A bundled or a user's file; its digest is computed, not compared. `name` goes into the manifest.
Result<LoadedFile> load_unpinned(const std::string& path, const std::string& name);

}  // namespace qfs::datasets

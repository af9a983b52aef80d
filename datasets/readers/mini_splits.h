// The files of one split of a bundled set: splits.json, {"train": ["mm-01", …], "val": […],
// "test": […]}, names them, one an id beside it.
//
// Called by the readers of bundled sets. Thread-safe; a missing split or file and an id that is no
// text are `data` errors with the file and the place.
#pragma once

#include <string>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/api/result.h"

namespace qfs::datasets {

struct BundledFile {
  std::string id;
  std::string path;
  std::string bytes;
};

struct BundledSplit {
  DatasetManifest manifest;  ///< name, licence, source and files; what else is the reader's
  std::vector<BundledFile> files;
};

/// `folder`/ID`extension` for the ids of the split, in their order by name.
Result<BundledSplit> load_bundled_split(const DatasetInfo& set, const std::string& folder,
                                        const std::string& split, const std::string& extension);

}  // namespace qfs::datasets

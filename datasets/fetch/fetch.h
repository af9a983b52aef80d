// fetch: brings a registered data set onto this machine, from its official address or from a
// folder.
//
// Called by `data fetch`. Every file is checked against its pinned size and SHA-256 before it
// appears under its name (written aside, then renamed), so a broken download leaves nothing
// half-made; files that are already there and right are kept, so the same command continues.
// Thread-safe; a wrong file is a `data` error, a failing network `unavailable` or `timeout`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "datasets/fetch/download.h"
#include "datasets/registry.h"
#include "harness/api/result.h"

namespace qfs::datasets {

struct FetchProgress {
  std::string file;
  int64_t files_done = 0;
  int64_t files_total = 0;
  int64_t bytes_done = 0;  ///< of the whole set, kept files included
  int64_t bytes_total = 0;
};

struct FetchOptions {
  std::string base_url;     ///< a mirror instead of the registry's address; http:// is allowed here
  std::string from_folder;  ///< copy from this folder (or the set's folder in it); no network
  std::chrono::seconds connect_timeout{15};
  std::chrono::seconds stall_timeout{30};
  std::function<void(const FetchProgress&)> progress;  ///< may be empty
};

struct FetchReport {
  std::string folder;  ///< where the set lies
  int64_t files_fetched = 0;
  int64_t files_kept = 0;  ///< were there and right
  int64_t bytes_fetched = 0;
};

/// Completes `destination`/<folder of the set>.
Result<FetchReport> fetch(const RegistryEntry& entry, const std::string& destination,
                          const FetchOptions& options);

}  // namespace qfs::datasets

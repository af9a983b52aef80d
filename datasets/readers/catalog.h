// The catalog of data sets: registered names and users' files, behind qfs::DatasetCatalog.
//
// Made once by each composition root. `load` resolves defaults, checks name, split, view and text
// form (suggesting the nearest), reads, and keeps what it loaded for the life of the process.
// Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/api/result.h"

namespace qfs::datasets {

struct CatalogOptions {
  std::string program_folder;      ///< holds registry.json and mini/
  std::vector<std::string> roots;  ///< searched in order for fetched sets
};

/// program_data_directory()/datasets; $QFS_DATASETS_DIR and the user's cache.
CatalogOptions default_catalog_options();

/// The registry of fetched sets, for `data fetch`.
std::string registry_file(const CatalogOptions& options);

std::unique_ptr<DatasetCatalog> make_catalog(const CatalogOptions& options);

/// The request with defaults filled in, checked against what the set offers. A text form may be
/// given with its version ("ideal@1"), which must then be the present one.
Result<DatasetRequest> resolve_request(const DatasetInfo& info, const DatasetRequest& request);

}  // namespace qfs::datasets

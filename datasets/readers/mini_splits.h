// The splits file of a bundled set: {"train": ["mm-01", …], "val": […], "test": […]}.
//
// Called by the readers of bundled sets, one file an id beside it. Thread-safe; a missing split or
// an id that is no text is a `data` error with the file and the place.
#pragma once

#include <string>
#include <vector>

#include "harness/api/result.h"

namespace qfs::datasets {

/// Ids of `split` in `folder`/splits.json, sorted.
Result<std::vector<std::string>> ids_of_split(const std::string& folder, const std::string& split);

}  // namespace qfs::datasets

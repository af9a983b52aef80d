// References that are kept beside the predictions: JSON lines with an id, read as examples.
//
// Called by files_input.cpp for references beside record files. A row has `id` and `references` (or
// `output`, as in SCROLLS), optionally `document`, `query`, `group`, `cluster`, `language`; rows
// with the same id are further references of it. Thread-safe; errors are `data` with file:line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/api/result.h"

namespace qfs::score {

struct ReferenceRecords {
  std::shared_ptr<const Dataset> examples;
  std::string label;  ///< names and digests of the files
};

Result<ReferenceRecords> read_reference_records(const std::vector<std::string>& paths);

}  // namespace qfs::score

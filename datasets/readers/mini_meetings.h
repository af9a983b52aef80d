// The reader of `mini-meetings`, the bundled meetings in QMSum's format with fixed splits.
//
// Folder: splits.json ({"train": ["mm-01", …], "val": […], "test": […]}) and one <id>.json a
// meeting. Called by the catalog. Stateless, thread-safe.
#pragma once

#include <string>

#include "harness/api/dataset.h"

namespace qfs::datasets {

class MiniMeetingsReader : public DatasetReader {
 public:
  /// `folder` holds splits.json and the meetings.
  explicit MiniMeetingsReader(std::string folder) : folder_(std::move(folder)) {}
  DatasetInfo info() const override;
  Result<Dataset> read(const DatasetRequest& request) const override;

 private:
  std::string folder_;
};

}  // namespace qfs::datasets

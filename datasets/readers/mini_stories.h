// The reader of `mini-stories`, the bundled stories in SQuALITY's format with fixed splits.
//
// Folder: splits.json and one <id>.jsonl a story. Called by the catalog. Stateless, thread-safe.
#pragma once

#include <string>
#include <utility>

#include "harness/api/dataset.h"

namespace qfs::datasets {

class MiniStoriesReader : public DatasetReader {
 public:
  /// `folder` holds splits.json and the stories.
  explicit MiniStoriesReader(std::string folder) : folder_(std::move(folder)) {}
  DatasetInfo info() const override;
  Result<Dataset> read(const DatasetRequest& request) const override;

 private:
  std::string folder_;
};

}  // namespace qfs::datasets

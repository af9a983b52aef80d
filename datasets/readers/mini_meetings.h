// The reader of `mini-meetings` and `mini-zh`, the bundled meetings in QMSum's format with fixed
// splits.
//
// Folder: splits.json and one <id>.json a meeting. Called by the catalog. Stateless, thread-safe.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/api/dataset.h"

namespace qfs::datasets {

/// What differs between the bundled sets.
struct MiniMeetingSet {
  std::string name;
  std::string doc;
  std::string language;
  std::vector<std::string> text_forms;
};

MiniMeetingSet mini_meetings();
MiniMeetingSet mini_zh();

class MiniMeetingsReader : public DatasetReader {
 public:
  /// `folder` holds splits.json and the meetings.
  MiniMeetingsReader(MiniMeetingSet set, std::string folder)
      : set_(std::move(set)), folder_(std::move(folder)) {}
  DatasetInfo info() const override;
  Result<Dataset> read(const DatasetRequest& request) const override;

 private:
  MiniMeetingSet set_;
  std::string folder_;
};

}  // namespace qfs::datasets

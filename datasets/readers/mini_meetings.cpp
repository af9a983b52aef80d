#include "datasets/readers/mini_meetings.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/json_access.h"
#include "datasets/readers/meeting_set.h"
#include "datasets/readers/mini_splits.h"

namespace qfs::datasets {

MiniMeetingSet mini_meetings() {
  return {"mini-meetings",
          "16 short synthetic meetings with 4 queries each, written for this project",
          "en",
          {"raw", "ideal", "dyle"}};
}

MiniMeetingSet mini_zh() {
  return {"mini-zh",
          "23 synthetic Chinese meeting segments with 2 queries each, written for this project",
          "zh",
          {"raw"}};
}

DatasetInfo MiniMeetingsReader::info() const {
  return {.name = set_.name,
          .doc = set_.doc,
          .licence = "CC BY 4.0",
          .splits = {"test", "train", "val"},
          .views = {"whole", "golden"},
          .text_forms = set_.text_forms,
          .bundled = true};
}

Result<Dataset> MiniMeetingsReader::read(const DatasetRequest& request) const {
  Result<BundledSplit> split = load_bundled_split(info(), folder_, request.split, ".json");
  if (!split) return split.error();
  std::vector<Meeting> meetings;
  for (const BundledFile& file : split->files) {
    Result<nlohmann::json> value = parse_json(file.bytes, file.path);
    if (!value) return value.error();
    Result<Meeting> meeting = decode_meeting(*value, file.id, {file.path, ""});
    if (!meeting) return meeting.error();
    meetings.push_back(*std::move(meeting));
  }
  Result<Dataset> dataset = seal_meetings(request, std::move(split->manifest), std::move(meetings));
  if (!dataset) return dataset;
  for (Example& example : dataset->examples) example.language = set_.language;
  return dataset;
}

}  // namespace qfs::datasets

#include "datasets/readers/mini_meetings.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/json_access.h"
#include "datasets/readers/meeting_set.h"
#include "datasets/readers/mini_splits.h"
#include "datasets/source_files.h"

namespace qfs::datasets {

MiniMeetingSet mini_meetings() {
  return {"mini-meetings",
          "16 short synthetic meetings with 4 queries each, written for this project",
          "en",
          {"raw", "ideal"}};
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
  Result<std::vector<std::string>> ids = ids_of_split(folder_, request.split);
  if (!ids) return ids.error();

  DatasetManifest manifest;
  manifest.name = info().name;
  manifest.licence = info().licence;
  manifest.source = "bundled with qfs-bench";
  std::vector<Meeting> meetings;
  for (const std::string& id : *ids) {
    std::string name = id + ".json";
    Result<LoadedFile> file = load_unpinned(folder_ + "/" + name, name);
    if (!file) return file.error();
    Result<nlohmann::json> value = parse_json(file->bytes, file->path);
    if (!value) return value.error();
    Result<Meeting> meeting = decode_meeting(*value, id, {file->path, ""});
    if (!meeting) return meeting.error();
    meetings.push_back(*std::move(meeting));
    manifest.files.push_back(std::move(file->source));
  }
  Result<Dataset> dataset = seal_meetings(request, std::move(manifest), std::move(meetings));
  if (!dataset) return dataset;
  for (Example& example : dataset->examples) example.language = set_.language;
  return dataset;
}

}  // namespace qfs::datasets

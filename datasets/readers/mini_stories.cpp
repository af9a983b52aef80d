#include "datasets/readers/mini_stories.h"

#include <iterator>
#include <vector>

#include "datasets/readers/mini_splits.h"
#include "datasets/readers/squality.h"
#include "datasets/source_files.h"

namespace qfs::datasets {

DatasetInfo MiniStoriesReader::info() const {
  return {.name = "mini-stories",
          .doc =
              "10 synthetic stories with 5 questions and 4 references each, written for this "
              "project",
          .licence = "CC BY 4.0",
          .splits = {"test", "train", "val"},
          .views = {"whole", "per_reference"},
          .text_forms = {"raw"},
          .bundled = true};
}

Result<Dataset> MiniStoriesReader::read(const DatasetRequest& request) const {
  Result<std::vector<std::string>> ids = ids_of_split(folder_, request.split);
  if (!ids) return ids.error();
  DatasetManifest manifest;
  manifest.name = info().name;
  manifest.licence = info().licence;
  manifest.source = "bundled with qfs-bench";
  std::vector<Example> examples;
  for (const std::string& id : *ids) {
    std::string name = id + ".jsonl";
    Result<LoadedFile> file = load_unpinned(folder_ + "/" + name, name);
    if (!file) return file.error();
    Result<std::vector<Example>> story =
        parse_stories(file->bytes, reference_view(request.view), file->path);
    if (!story) return story.error();
    std::ranges::move(*story, std::back_inserter(examples));
    manifest.files.push_back(std::move(file->source));
  }
  manifest.reader = kStoryReader;
  return seal_questions(request, std::move(manifest), std::move(examples));
}

}  // namespace qfs::datasets

#include "datasets/readers/mini_stories.h"

#include <iterator>
#include <vector>

#include "datasets/readers/mini_splits.h"
#include "datasets/readers/squality.h"

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
  Result<BundledSplit> split = load_bundled_split(info(), folder_, request.split, ".jsonl");
  if (!split) return split.error();
  std::vector<Example> examples;
  for (const BundledFile& file : split->files) {
    Result<std::vector<Example>> story =
        parse_stories(file.bytes, reference_view(request.view), file.path);
    if (!story) return story.error();
    std::ranges::move(*story, std::back_inserter(examples));
  }
  split->manifest.reader = kStoryReader;
  return seal_questions(request, std::move(split->manifest), std::move(examples));
}

}  // namespace qfs::datasets

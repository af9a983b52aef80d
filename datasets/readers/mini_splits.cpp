#include "datasets/readers/mini_splits.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/json_access.h"
#include "datasets/source_files.h"

namespace qfs::datasets {
namespace {

/// Ids of `split` in `folder`/splits.json, sorted.
Result<std::vector<std::string>> ids_of_split(const std::string& folder, const std::string& split) {
  Result<LoadedFile> splits = load_unpinned(folder + "/splits.json", "splits.json");
  if (!splits) return splits.error();
  Result<nlohmann::json> root = parse_json(splits->bytes, splits->path);
  if (!root) return root.error();
  JsonPlace place{splits->path, ""};
  Result<const nlohmann::json*> list = list_member(*root, split, place);
  if (!list) return list.error();
  std::vector<std::string> ids;
  for (const nlohmann::json& id : **list) {
    if (!id.is_string()) {
      return data_error("a split lists ids as text", (place / split).to_string());
    }
    ids.push_back(id.get<std::string>());
  }
  std::ranges::sort(ids);
  return ids;
}

}  // namespace

Result<BundledSplit> load_bundled_split(const DatasetInfo& set, const std::string& folder,
                                        const std::string& split, const std::string& extension) {
  Result<std::vector<std::string>> ids = ids_of_split(folder, split);
  if (!ids) return ids.error();
  BundledSplit loaded;
  loaded.manifest.name = set.name;
  loaded.manifest.licence = set.licence;
  loaded.manifest.source = "bundled with qfs-bench";
  for (std::string& id : *ids) {
    const std::string name = id + extension;
    Result<LoadedFile> file = load_unpinned(folder + "/" + name, name);
    if (!file) return file.error();
    loaded.manifest.files.push_back(std::move(file->source));
    loaded.files.push_back({std::move(id), std::move(file->path), std::move(file->bytes)});
  }
  return loaded;
}

}  // namespace qfs::datasets

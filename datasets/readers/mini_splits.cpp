#include "datasets/readers/mini_splits.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "datasets/json_access.h"
#include "datasets/source_files.h"

namespace qfs::datasets {

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

}  // namespace qfs::datasets

#include "harness/cli/store_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace qfs::cli {

std::string sweep_store_path(const std::string& given, const std::string& sweep_name) {
  return given.empty() ? sweep_name + ".sqlite" : given;
}

Result<std::string> existing_store_path(const std::string& given) {
  std::error_code error;
  if (!given.empty()) {
    if (!std::filesystem::exists(given, error)) {
      return not_found(fmt::format("there is no store '{}' (--store)", given));
    }
    return given;
  }
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(".", error)) {
    if (entry.path().extension() == ".sqlite") found.push_back(entry.path().filename().string());
  }
  if (error) return unavailable("cannot read the current folder: " + error.message());
  if (found.empty()) {
    return not_found(
        "no store (*.sqlite) in the current folder; name one with --store FILE, or make one with "
        "'qfs-bench sweep'");
  }
  if (found.size() > 1) {
    std::ranges::sort(found);
    return invalid_argument(
        fmt::format("the current folder has {} stores ({}); choose one with --store FILE",
                    found.size(), fmt::join(found, ", ")));
  }
  return found.front();
}

Result<store::Reader> open_existing_store(const GlobalOptions& global) {
  Result<std::string> path = existing_store_path(global.store);
  if (!path) return path.error();
  return store::Reader::open(*path, {.foreign = global.foreign});
}

}  // namespace qfs::cli

#include "harness/cli/store_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
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

bool is_store_file(const std::string& path) {
  std::error_code ignored;  // of a pipe nothing may be read here
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  constexpr std::string_view kHeader = "SQLite format 3";
  std::array<char, kHeader.size()> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  return file.gcount() == static_cast<std::streamsize>(start.size()) &&
         std::string_view(start.data(), start.size()) == kHeader;
}

Result<store::Reader> open_existing_store(const GlobalOptions& global) {
  Result<std::string> path = existing_store_path(global.store);
  if (!path) return path.error();
  return store::Reader::open(*path, {.foreign = global.foreign});
}

}  // namespace qfs::cli

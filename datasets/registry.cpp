#include "datasets/registry.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/json_access.h"
#include "harness/core/files.h"
#include "harness/core/json_dom.h"
#include "harness/core/suggest.h"

namespace qfs::datasets {
namespace {

constexpr uint64_t kMaxRegistryBytes = uint64_t{16} << 20;
constexpr int64_t kMaxFileBytes = int64_t{1} << 30;  // files are read and fetched in memory

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// Whether every component is a plain name, so that joining it to a folder stays inside the folder.
bool is_inner_path(std::string_view path) {
  if (path.empty() || path.size() > 255) return false;
  size_t begin = 0;
  while (begin <= path.size()) {
    size_t end = std::min(path.find('/', begin), path.size());
    std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    bool plain = std::ranges::all_of(part, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '.' || c == '_' || c == '-';
    });
    if (!plain) return false;
    begin = end + 1;
  }
  return true;
}

Result<PinnedFile> decode_file(const nlohmann::json& value, const JsonPlace& place) {
  PinnedFile file;
  Result<std::string> path = text_member(value, "path", place);
  if (!path) return path.error();
  if (!is_inner_path(*path)) {
    return data_error("'" + *path + "' is not a plain relative path", (place / "path").to_string());
  }
  Result<std::string> digest = text_member(value, "sha256", place);
  if (!digest) return digest.error();
  if (!is_sha256(*digest)) {
    return data_error("'" + *digest + "' is not a SHA-256 of 64 lower-case hex digits",
                      (place / "sha256").to_string());
  }
  Result<const nlohmann::json*> bytes = member(value, "bytes", place);
  if (!bytes) return bytes.error();
  if (!(*bytes)->is_number_unsigned() || (*bytes)->get<uint64_t>() > uint64_t{kMaxFileBytes}) {
    return data_error("'bytes' must be a size in bytes of at most 1 GiB",
                      (place / "bytes").to_string());
  }
  file.path = *std::move(path);
  file.sha256 = *std::move(digest);
  file.bytes = (*bytes)->get<int64_t>();
  return file;
}

Result<RegistryEntry> decode_entry(const nlohmann::json& value, const JsonPlace& place) {
  RegistryEntry entry;
  struct Target {
    std::string_view key;
    std::string* text;
  };
  for (Target target : {Target{"name", &entry.name}, Target{"licence", &entry.licence},
                        Target{"source", &entry.source}, Target{"base_url", &entry.base_url}}) {
    Result<std::string> text = text_member(value, target.key, place);
    if (!text) return text.error();
    *target.text = *std::move(text);
  }
  if (!is_inner_path(entry.name) || entry.name.find('/') != std::string::npos) {
    return data_error("'" + entry.name + "' is not a plain name", (place / "name").to_string());
  }
  if (!entry.base_url.starts_with("https://") || !entry.base_url.ends_with('/')) {
    return data_error("'base_url' must begin with https:// and end with '/'",
                      (place / "base_url").to_string());
  }
  if (value.contains("folder")) {
    Result<std::string> folder = text_member(value, "folder", place);
    if (!folder) return folder.error();
    if (!is_inner_path(*folder)) {
      return data_error("'" + *folder + "' is not a plain relative path",
                        (place / "folder").to_string());
    }
    entry.shared_folder = *std::move(folder);
  }
  if (value.contains("no_redistribution")) {
    const nlohmann::json& flag = value["no_redistribution"];
    if (!flag.is_boolean()) {
      return data_error("'no_redistribution' must be true or false",
                        (place / "no_redistribution").to_string());
    }
    entry.no_redistribution = flag.get<bool>();
  }
  Result<const nlohmann::json*> files = list_member(value, "files", place);
  if (!files) return files.error();
  for (size_t i = 0; i < (*files)->size(); ++i) {
    Result<PinnedFile> file = decode_file((**files)[i], place / "files" / i);
    if (!file) return file.error();
    entry.files.push_back(*std::move(file));
  }
  std::ranges::sort(entry.files, {}, &PinnedFile::path);
  auto twice = std::ranges::adjacent_find(entry.files, {}, &PinnedFile::path);
  if (twice != entry.files.end()) {
    return data_error("'" + twice->path + "' is pinned twice", (place / "files").to_string());
  }
  return entry;
}

}  // namespace

Result<std::vector<RegistryEntry>> parse_registry(std::string_view text, std::string_view source) {
  Result<nlohmann::json> root = parse_json(text, source);
  if (!root) return root.error();
  JsonPlace place{std::string(source), ""};
  Result<const nlohmann::json*> sets = list_member(*root, "sets", place);
  if (!sets) return sets.error();
  std::vector<RegistryEntry> entries;
  for (size_t i = 0; i < (*sets)->size(); ++i) {
    Result<RegistryEntry> entry = decode_entry((**sets)[i], place / "sets" / i);
    if (!entry) return entry.error();
    entries.push_back(*std::move(entry));
  }
  return entries;
}

Result<std::vector<RegistryEntry>> read_registry(const std::string& path) {
  Result<std::string> text = read_file(path, kMaxRegistryBytes);
  if (!text) return text.error();
  return parse_registry(*text, path);
}

Result<RegistryEntry> registry_entry(const std::string& path, std::string_view name) {
  Result<std::vector<RegistryEntry>> entries = read_registry(path);
  if (!entries) return entries.error();
  std::vector<std::string> names;
  for (RegistryEntry& entry : *entries) {
    if (entry.name == name) return std::move(entry);
    names.push_back(entry.name);
  }
  return not_found(
      "no data set '" + std::string(name) + "' in the registry" + suggestion(name, names), path);
}

}  // namespace qfs::datasets

#include "datasets/source_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/sha256.h"

namespace qfs::datasets {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;

std::string fetch_hint(const std::string& set) {
  return "`qfs-bench data fetch " + set + "`, or from a folder with `qfs-bench data fetch " + set +
         " --from DIR`";
}

}  // namespace

std::vector<std::string> default_dataset_roots() {
  std::vector<std::string> roots;
  const char* chosen = std::getenv("QFS_DATASETS_DIR");
  if (chosen != nullptr && *chosen != '\0') roots.emplace_back(chosen);
  roots.push_back(cache_directory() + "/datasets");
  return roots;
}

Result<std::string> locate_folder(const std::string& set, const std::string& folder,
                                  std::span<const std::string> roots, const std::string& how) {
  std::string looked;
  for (const std::string& root : roots) {
    std::string path = root + "/" + folder;
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return path;
    looked += (looked.empty() ? "" : ", ") + path;
  }
  return unavailable("data set '" + set + "' is not on this machine (looked in " + looked + "); " +
                     how);
}

Result<std::string> locate_set(const RegistryEntry& entry, std::span<const std::string> roots) {
  return locate_folder(entry.name, entry.folder(), roots, "get it with " + fetch_hint(entry.name));
}

DatasetManifest manifest_of(const RegistryEntry& entry) {
  DatasetManifest manifest;
  manifest.name = entry.name;
  manifest.licence = entry.licence;
  manifest.source = entry.source;
  manifest.no_redistribution = entry.no_redistribution;
  return manifest;
}

Result<LoadedFile> load_pinned(const std::string& set, const std::string& folder,
                               const PinnedFile& file) {
  Result<LoadedFile> loaded = load_unpinned(folder + "/" + file.path, file.path);
  if (!loaded) {
    Error error = std::move(loaded).error();
    error.message += "; data set '" + set + "' is incomplete, complete it with " + fetch_hint(set);
    if (error.kind == ErrorKind::not_found) error.kind = ErrorKind::unavailable;
    return error;
  }
  if (loaded->source.sha256 != file.sha256) {
    return data_error("SHA-256 is " + loaded->source.sha256 + ", expected " + file.sha256 +
                          " as pinned for '" + set + "'; replace the file with " + fetch_hint(set),
                      loaded->path);
  }
  return loaded;
}

Result<LoadedFile> load_unpinned(const std::string& path, const std::string& name) {
  Result<std::string> bytes = read_file(path, kMaxFileBytes);
  if (!bytes) return bytes.error();
  LoadedFile file;
  file.path = path;
  file.source = {name, sha256_hex(*bytes), static_cast<int64_t>(bytes->size())};
  file.bytes = *std::move(bytes);
  return file;
}

Result<RegisteredFile> load_registered(const std::string& registry_path,
                                       std::span<const std::string> roots, const std::string& name,
                                       const std::string& path) {
  Result<RegistryEntry> entry = registry_entry(registry_path, name);
  if (!entry) return entry.error();
  Result<std::string> folder = locate_set(*entry, roots);
  if (!folder) return folder.error();
  auto pinned = std::ranges::find(entry->files, path, &PinnedFile::path);
  if (pinned == entry->files.end()) {
    return data_error("'" + path + "' of data set '" + name + "' is not pinned", registry_path);
  }
  Result<LoadedFile> file = load_pinned(name, *folder, *pinned);
  if (!file) return file.error();
  RegisteredFile loaded{*std::move(file), manifest_of(*entry)};
  loaded.manifest.files.push_back(loaded.file.source);
  return loaded;
}

}  // namespace qfs::datasets

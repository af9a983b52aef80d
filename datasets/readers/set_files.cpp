#include "datasets/readers/set_files.h"

#include <fnmatch.h>

#include <algorithm>
#include <utility>

#include "datasets/text_lines.h"
#include "harness/core/files.h"
#include "harness/core/line_reader.h"

namespace qfs::datasets {
namespace {

/// The bytes of a verified file as its reader wants them.
Result<LoadedFile> decompressed(Result<LoadedFile> file) {
  if (!file || !file->path.ends_with(".gz")) return file;
  Result<std::string> text = read_decompressed(file->path);
  if (!text) return text.error();
  file->bytes = *std::move(text);
  return file;
}

class PinnedFiles : public SetFiles {
 public:
  PinnedFiles(RegistryEntry entry, std::string folder)
      : entry_(std::move(entry)), folder_(std::move(folder)) {}

  Result<std::vector<std::string>> matching(const std::string& pattern) const override {
    std::vector<std::string> paths;
    for (const PinnedFile& file : entry_.files) {
      if (fnmatch(pattern.c_str(), file.path.c_str(), FNM_PATHNAME) == 0) {
        paths.push_back(file.path);
      }
    }
    return paths;
  }

 protected:
  Result<LoadedFile> bytes_of(const std::string& path) const override {
    const auto pinned = std::ranges::find(entry_.files, path, &PinnedFile::path);
    if (pinned == entry_.files.end()) {
      return data_error("'" + path + "' of data set '" + entry_.name + "' is not pinned");
    }
    return decompressed(load_pinned(entry_.name, folder_, *pinned));
  }

 private:
  RegistryEntry entry_;
  std::string folder_;
};

class FilesBelow : public SetFiles {
 public:
  FilesBelow(std::string folder, std::string set, std::string layout)
      : folder_(std::move(folder)), set_(std::move(set)), layout_(std::move(layout)) {}

  Result<std::vector<std::string>> matching(const std::string& pattern) const override {
    return glob_files(folder_, pattern);
  }

 protected:
  Result<LoadedFile> bytes_of(const std::string& path) const override {
    Result<LoadedFile> file = decompressed(load_unpinned(folder_ + "/" + path, path));
    if (file || file.error().kind != ErrorKind::not_found) return file;
    return unavailable("no such file; data set '" + set_ + "' is made of " + layout_,
                       folder_ + "/" + path);
  }

 private:
  std::string folder_;
  std::string set_;
  std::string layout_;
};

}  // namespace

Result<LoadedFile> SetFiles::load(const std::string& path) {
  Result<LoadedFile> file = bytes_of(path);
  if (!file) return file;
  Status encoding = check_utf8(file->bytes, file->path);
  if (!encoding) return encoding.error();
  loaded_.push_back(file->source);
  return file;
}

std::vector<SourceFile> SetFiles::loaded() const {
  std::vector<SourceFile> files = loaded_;
  std::ranges::sort(files, {}, &SourceFile::name);
  return files;
}

Result<std::unique_ptr<SetFiles>> pinned_files(const RegistryEntry& entry,
                                               std::span<const std::string> roots) {
  Result<std::string> folder = locate_set(entry, roots);
  if (!folder) return folder.error();
  return std::unique_ptr<SetFiles>(std::make_unique<PinnedFiles>(entry, *std::move(folder)));
}

std::unique_ptr<SetFiles> files_below(const std::string& folder, const std::string& set,
                                      const std::string& layout) {
  return std::make_unique<FilesBelow>(folder, set, layout);
}

}  // namespace qfs::datasets

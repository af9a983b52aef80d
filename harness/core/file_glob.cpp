// glob_files: patterns below a folder, without following links out of it.
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/core/files.h"
#include "harness/core/system_error.h"

namespace qfs {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 100'000;
constexpr size_t kDeepestFolder = 64;

Result<std::vector<std::string>> split_pattern(const std::string& pattern) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= pattern.size()) {
    const size_t end = std::min(pattern.find('/', begin), pattern.size());
    std::string part = pattern.substr(begin, end - begin);
    begin = end + 1;
    if (part == ".") continue;
    if (part.empty() || part == "..") {
      return invalid_argument("the pattern '" + pattern +
                              "' must name files below its folder: relative, without '..'");
    }
    if (part == "**" && !parts.empty() && parts.back() == "**") continue;
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return invalid_argument("the pattern '" + pattern + "' names no file");
  return parts;
}

class GlobWalk {
 public:
  GlobWalk(fs::path root, std::vector<std::string> parts)
      : root_(std::move(root)), parts_(std::move(parts)) {}

  Result<std::vector<std::string>> run() {
    if (Status status = visit("", 0, 0); !status) return status.error();
    return std::vector<std::string>(found_.begin(), found_.end());
  }

 private:
  struct Entry {
    std::string name;
    bool folder;
    bool link;
  };

  Result<std::vector<Entry>> entries(const std::string& relative) const {
    std::error_code error;
    const fs::path folder = root_ / relative;
    fs::directory_iterator at(folder, error);
    std::vector<Entry> list;
    for (; !error && at != fs::directory_iterator(); at.increment(error)) {
      std::error_code ignored;  // a dangling link is neither a folder nor a file
      list.push_back(
          {at->path().filename().string(), at->is_directory(ignored), at->is_symlink(ignored)});
    }
    if (error) return read_failure(error.value(), folder.string());
    return list;
  }

  /// A link that leaves the folder would let a pattern read (and an identity depend on) other
  /// files.
  Status check_inside(const std::string& relative) const {
    std::error_code error;
    const fs::path target = fs::canonical(root_ / relative, error);
    if (error) return read_failure(error.value(), (root_ / relative).string());
    const auto [root_end, rest] =
        std::mismatch(root_.begin(), root_.end(), target.begin(), target.end());
    if (root_end == root_.end()) return {};
    return invalid_argument("'" + relative + "' is a symbolic link that leaves '" + root_.string() +
                            "'");
  }

  Status visit(const std::string& relative, size_t part, size_t depth) {
    if (depth > kDeepestFolder) {
      return invalid_argument("'" + relative + "' is nested deeper than " +
                              std::to_string(kDeepestFolder) + " folders");
    }
    const bool any_depth = parts_[part] == "**";
    const bool last = part + 1 == parts_.size();
    if (any_depth && !last) {
      if (Status status = visit(relative, part + 1, depth); !status) return status;
    }
    const Result<std::vector<Entry>> list = entries(relative);
    if (!list) return list.error();
    for (const Entry& entry : *list) {
      const std::string path = relative.empty() ? entry.name : relative + "/" + entry.name;
      const bool matches =
          any_depth ? !entry.name.starts_with('.')
                    : ::fnmatch(parts_[part].c_str(), entry.name.c_str(), FNM_PERIOD) == 0;
      if (!matches) continue;
      Status status;
      if (entry.folder) {
        // '**' does not follow links, which may form loops; a named folder may be a link.
        if (any_depth && !entry.link) status = visit(path, part, depth + 1);
        if (!any_depth && !last) status = enter(path, part + 1, depth + 1, entry.link);
      } else if (last) {
        status = add(path, entry.link);
      }
      if (!status) return status;
    }
    return {};
  }

  Status enter(const std::string& path, size_t part, size_t depth, bool link) {
    if (link) {
      if (Status status = check_inside(path); !status) return status;
    }
    return visit(path, part, depth);
  }

  Status add(const std::string& path, bool link) {
    if (link) {
      if (Status status = check_inside(path); !status) return status;
    }
    found_.insert(path);
    if (found_.size() > kMostFiles) {
      return invalid_argument("more than " + std::to_string(kMostFiles) + " files below '" +
                              root_.string() + "' match");
    }
    return {};
  }

  fs::path root_;
  std::vector<std::string> parts_;
  std::set<std::string> found_;
};

}  // namespace

Result<std::vector<std::string>> glob_files(const std::string& root, const std::string& pattern) {
  Result<std::vector<std::string>> parts = split_pattern(pattern);
  if (!parts) return parts.error();
  std::error_code error;
  const fs::path folder = fs::canonical(root, error);
  if (error) return read_failure(error.value(), root);
  return GlobWalk(folder, *std::move(parts)).run();
}

}  // namespace qfs

#include "methods/models/registry/hugging_face_cache.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "harness/core/files.h"

namespace qfs::registry {

namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string hub_directory() {
  if (std::string hub = environment("HF_HUB_CACHE"); !hub.empty()) return hub;
  if (std::string home = environment("HF_HOME"); !home.empty()) return home + "/hub";
  return environment("HOME") + "/.cache/huggingface/hub";
}

/// Letters, digits, '.', '_', '-' and not all dots: safe as one component of a path.
bool plain_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), allowed) &&
         text.find_first_not_of('.') != std::string_view::npos;
}

/// The commit a branch or tag points to; the revision itself when there is no such reference.
std::string commit_of(const std::string& repository, const std::string& revision) {
  const Result<std::string> reference = read_file(repository + "/refs/" + revision, 256);
  if (!reference.ok()) return revision;
  const std::string commit = reference->substr(0, reference->find_first_of(" \r\n"));
  return plain_name(commit) ? commit : revision;
}

}  // namespace

Result<std::string> hugging_face_snapshot(std::string_view name) {
  const size_t at = name.find('@');
  const std::string repository_name(name.substr(0, at));
  const std::string revision(at == std::string_view::npos ? "main" : name.substr(at + 1));
  const size_t slash = repository_name.find('/');
  if (slash == std::string::npos || !plain_name(repository_name.substr(0, slash)) ||
      !plain_name(repository_name.substr(slash + 1)) || !plain_name(revision)) {
    return invalid_argument("'hf:" + std::string(name) +
                            "' is not of the form hf:org/name@revision");
  }
  const std::string repository = hub_directory() + "/models--" + repository_name.substr(0, slash) +
                                 "--" + repository_name.substr(slash + 1);
  const std::string folder = repository + "/snapshots/" + commit_of(repository, revision);
  std::error_code error;
  if (fs::is_directory(folder, error)) return folder;
  return unavailable("'hf:" + std::string(name) + "' is not in the Hugging Face cache: expected '" +
                     folder + "'. Get it with: hf download " + repository_name + " --revision " +
                     revision);
}

}  // namespace qfs::registry

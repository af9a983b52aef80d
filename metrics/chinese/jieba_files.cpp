#include "metrics/chinese/jieba_files.h"

#include <cstdlib>
#include <filesystem>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "metrics/text/python_package.h"

namespace qfs::metrics {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHowToGet =
    "./bootstrap.sh jieba fetches it; or set QFS_JIEBA_DIR to the folder of the Python package "
    "jieba "
    "0.42.1 (it holds dict.txt and finalseg/), or install it: pip install jieba==0.42.1, or the "
    "Debian package python3-jieba";

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

Result<std::string> package_folder() {
  const char* const given = std::getenv("QFS_JIEBA_DIR");
  if (given != nullptr && *given != '\0') {
    if (is_file(std::string(given) + "/dict.txt")) return std::string(given);
    return unavailable("QFS_JIEBA_DIR is '" + std::string(given) + "', which has no dict.txt; " +
                       std::string(kHowToGet));
  }
  if (std::string cached = cache_directory() + "/jieba-0.42.1"; is_file(cached + "/dict.txt")) {
    return cached;
  }
  std::string folder = python_package_folder("jieba");
  if (!folder.empty() && is_file(folder + "/dict.txt")) return folder;
  return unavailable("jieba's dictionary is not on this machine; " + std::string(kHowToGet));
}

Status add_tables(const std::string& package, JiebaFiles& files) {
  files.tables = package + "/finalseg";
  std::string digests;
  for (const char* name : {"prob_start.py", "prob_trans.py", "prob_emit.py"}) {
    const std::string path = files.tables + "/" + name;
    if (!is_file(path)) {
      return unavailable("jieba's probability table '" + path + "' is absent; " +
                         std::string(kHowToGet) + "; without the table, use hmm=off");
    }
    Result<std::string> digest = sha256_file_cached(path);
    if (!digest) return digest.error();
    digests += *digest;
  }
  files.tables_sha256 = sha256_hex(digests);
  return {};
}

}  // namespace

Result<JiebaFiles> find_jieba(const JiebaRequest& request) {
  JiebaFiles files;
  files.dictionary = request.dictionary;
  if (!files.dictionary.empty() && !is_file(files.dictionary)) {
    return not_found("the dictionary '" + files.dictionary + "' is not a file");
  }
  if (files.dictionary.empty() || request.hmm) {
    const Result<std::string> package = package_folder();
    if (!package) return package.error();
    if (files.dictionary.empty()) files.dictionary = *package + "/dict.txt";
    if (request.hmm) {
      if (Status status = add_tables(*package, files); !status) return status.error();
    }
  }
  Result<std::string> digest = sha256_file_cached(files.dictionary);
  if (!digest) return digest.error();
  files.dictionary_sha256 = *std::move(digest);
  return files;
}

}  // namespace qfs::metrics

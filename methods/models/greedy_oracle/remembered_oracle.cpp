#include "methods/models/greedy_oracle/remembered_oracle.h"

#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "methods/models/greedy_oracle/dyle_oracle.h"

namespace qfs::greedy_oracle {

namespace {

/// To be raised with any change of what dyle_oracle chooses.
constexpr std::string_view kVersion = "dyle_oracle 1";
constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;

std::string key_of(const std::vector<std::string>& units, const std::string& reference) {
  Sha256 hash;
  hash.update(kVersion);
  const auto add = [&](const std::string& text) {
    hash.update("\n" + std::to_string(text.size()) + "\n").update(text);
  };
  add(reference);
  for (const std::string& unit : units) add(unit);
  return hash.hex();
}

/// "INDEX … ." of a document of so many units; std::nullopt for what is no such list.
std::optional<std::vector<size_t>> parse_list(const std::string& text, size_t units) {
  std::vector<size_t> list;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word == ".") return list;
    if (word.size() > 9 || word.find_first_not_of("0123456789") != word.npos) break;
    const size_t index = std::stoul(word);
    if (index >= units || (!list.empty() && index <= list.back())) break;
    list.push_back(index);
  }
  return std::nullopt;
}

std::optional<std::vector<size_t>> stored_list(const std::string& path, const std::string& key,
                                               size_t units) {
  const auto text = read_file(path, kMaxFileBytes);
  if (!text.ok()) return std::nullopt;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    if (auto list = parse_list(line.substr(key.size()), units)) return list;
  }
  return std::nullopt;
}

/// One write at the file's end, so that lines of several processes do not mix; a line that was torn
/// is ended by the next one's first character.
void store_list(const std::string& folder, const std::string& path, const std::string& key,
                const std::vector<size_t>& list) {
  if (!make_directories(folder).ok()) return;
  std::string line = "\n" + key;
  for (const size_t index : list) line += " " + std::to_string(index);
  line += " .\n";
  std::ofstream(path, std::ios::app | std::ios::binary) << line;
}

}  // namespace

std::vector<size_t> remembered_oracle(const std::vector<std::string>& units,
                                      const std::string& reference) {
  const std::string key = key_of(units, reference);
  const std::string folder = cache_directory() + "/oracles";
  const std::string path = folder + "/" + key.substr(0, 3);
  if (auto known = stored_list(path, key, units.size())) return *std::move(known);
  std::vector<size_t> list = dyle_oracle(units, reference);
  store_list(folder, path, key, list);
  return list;
}

}  // namespace qfs::greedy_oracle

#include "metrics/rouge155/lexicon.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "harness/core/files.h"
#include "harness/core/sha256.h"

namespace qfs::metrics::rouge155 {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxListBytes = uint64_t{64} << 20;
constexpr uint64_t kEmptyDatabaseBytes = 12288;  // three pages; the full one has 294,912
constexpr std::string_view kBlanks = " \t\r";

/// WordNet's lists in the order in which later ones override earlier ones.
constexpr std::string_view kWordNetFiles[] = {"verb.exc", "noun.exc", "adv.exc", "adj.exc"};

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

template <class Visit>
Status for_each_line(const std::string& path, Visit&& visit) {
  Result<std::string> text = read_file(path, kMaxListBytes);
  if (!text) return text.error();
  size_t number = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    ++number;
    if (Status status = visit(rest.substr(0, end), number); !status) return status;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

using Table = std::map<std::string, std::string, std::less<>>;

Status add_forms(const std::string& path, Table& table) {
  return for_each_line(path, [&](std::string_view line, size_t number) -> Status {
    const std::string_view form = next_word(line);
    const std::string_view lemma = next_word(line);
    if (form.empty()) return {};
    if (lemma.empty()) {
      return data_error("expected 'form lemma', found one word",
                        path + ":" + std::to_string(number));
    }
    table.insert_or_assign(std::string(form), std::string(lemma));
    return {};
  });
}

bool is_word_net_folder(const fs::path& folder) {
  return std::all_of(std::begin(kWordNetFiles), std::end(kWordNetFiles),
                     [&](std::string_view name) { return fs::is_regular_file(folder / name); });
}

}  // namespace

ExceptionList no_exceptions() { return {{}, "none"}; }

Result<ExceptionList> read_exceptions(const std::string& path) {
  Table table;
  std::error_code ignored;
  std::vector<std::string> files = {path};
  if (fs::is_directory(path, ignored)) {
    files.clear();
    for (std::string_view name : kWordNetFiles) files.push_back((fs::path(path) / name).string());
  }
  for (const std::string& file : files) {
    if (Status added = add_forms(file, table); !added) return added.error();
  }
  ExceptionList list = no_exceptions();
  if (table.empty()) return list;
  Sha256 digest;
  for (const auto& [form, lemma] : table) digest.update(form + "\t" + lemma + "\n");
  list.digest = digest.hex();
  list.lemma_of.insert(table.begin(), table.end());
  return list;
}

Result<StopWords> read_stop_words(const std::string& path) {
  std::set<std::string> words;
  Status read = for_each_line(path, [&](std::string_view line, size_t) -> Status {
    words.emplace(line);
    return {};
  });
  if (!read) return read.error();
  StopWords list;
  Sha256 digest;
  for (const std::string& word : words) digest.update(word + "\n");
  list.digest = digest.hex();
  list.words.insert(words.begin(), words.end());
  return list;
}

DataFolder look_into_data_folder(const std::string& folder) {
  std::error_code ignored;
  const fs::path root(folder);
  DataFolder found;
  if (fs::is_regular_file(root / "smart_common_words.txt", ignored)) {
    found.stop_words = (root / "smart_common_words.txt").string();
  }
  if (fs::is_regular_file(root / "wordnet-2.0.exc.tsv", ignored)) {
    found.exceptions = (root / "wordnet-2.0.exc.tsv").string();
  } else if (is_word_net_folder(root / "WordNet-2.0-Exceptions")) {
    found.exceptions = (root / "WordNet-2.0-Exceptions").string();
  } else if (is_word_net_folder(root)) {
    found.exceptions = folder;
  }
  const fs::path database = root / "WordNet-2.0.exc.db";
  const uintmax_t bytes = fs::file_size(database, ignored);
  if (!ignored && bytes <= kEmptyDatabaseBytes) {
    found.warning = database.string() + " has " + std::to_string(bytes) +
                    " bytes and so no entry: the Perl script stems with no exceptions here; "
                    "--exceptions none gives its numbers";
  }
  return found;
}

}  // namespace qfs::metrics::rouge155

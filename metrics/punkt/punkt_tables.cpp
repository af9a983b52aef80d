#include "metrics/punkt/punkt_tables.h"

#include <optional>

#include "harness/core/sha256.h"
#include "harness/core/whole_number.h"

namespace qfs::metrics {
namespace {

/// Calls `visit(line, number)` for every line until one is wrong.
template <class Visit>
Status for_each_line(std::string_view text, Visit&& visit) {
  size_t number = 1;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (end < text.size() && line.ends_with('\r')) line.remove_suffix(1);
    if (Status status = visit(line, number); !status) return status;
    begin = end + 1;
  }
  return {};
}

/// The two fields of "a\tb".
std::optional<std::pair<std::string_view, std::string_view>> fields(std::string_view line) {
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos || line.find('\t', tab + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  return std::pair(line.substr(0, tab), line.substr(tab + 1));
}

std::optional<int> contexts(std::string_view text) {
  const auto value = whole_number<int>(text);
  return value && *value >= 0 && *value <= kMaxContexts ? value : std::nullopt;
}

Status read_set(std::string_view text, std::set<std::string>& into) {
  return for_each_line(text, [&](std::string_view line, size_t) -> Status {
    into.emplace(line);
    return {};
  });
}

}  // namespace

std::string PunktTables::sha256() const {
  std::string text = "abbreviations\n";
  for (const std::string& type : abbreviations) text += type + "\n";
  text += "collocations\n";
  for (const auto& [first, second] : collocations) text += first + "\t" + second + "\n";
  text += "sentence starters\n";
  for (const std::string& type : sentence_starters) text += type + "\n";
  text += "orthography\n";
  for (const auto& [type, seen] : orthography) text += type + "\t" + std::to_string(seen) + "\n";
  return sha256_hex(text);
}

Result<PunktTables> read_punkt_tab(const PunktTabTexts& texts, const std::string& folder) {
  PunktTables tables;
  const auto place = [&](const char* file, size_t line) {
    return folder + "/" + file + ":" + std::to_string(line);
  };
  if (Status read = read_set(texts.abbreviations, tables.abbreviations); !read) return read.error();
  if (Status read = read_set(texts.sentence_starters, tables.sentence_starters); !read) {
    return read.error();
  }
  Status status = for_each_line(texts.collocations, [&](std::string_view line, size_t n) -> Status {
    const auto pair = fields(line);
    if (!pair) return data_error("two words and a tab expected", place("collocations.tab", n));
    tables.collocations.emplace(pair->first, pair->second);
    return {};
  });
  if (!status) return status.error();
  status = for_each_line(texts.orthography, [&](std::string_view line, size_t n) -> Status {
    const auto pair = fields(line);
    const std::optional<int> seen = pair ? contexts(pair->second) : std::nullopt;
    if (!seen) {
      return data_error("a word, a tab and a number from 0 to 126 expected",
                        place("ortho_context.tab", n));
    }
    tables.orthography.insert_or_assign(std::string(pair->first), *seen);
    return {};
  });
  if (!status) return status.error();
  return tables;
}

}  // namespace qfs::metrics

#include "methods/egad/dictionary.h"

#include <algorithm>
#include <vector>

#include "harness/core/text/unicode_forms.h"
#include "harness/core/utf8.h"
#include "harness/core/whole_number.h"
#include "methods/egad/keywords.h"

namespace qfs::egad {

namespace {

/// Of the first word of a list without counts; no order depends on it.
constexpr double kFirstRank = 1e6;

std::vector<std::string_view> fields(std::string_view line) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    if (end > begin) parts.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Error bad_line(const std::string& source, int64_t number, const std::string& what) {
  return data_error(what, source + ":" + std::to_string(number));
}

}  // namespace

void Dictionary::add(const std::string& word, double frequency) {
  frequencies_[word] += frequency;
  total_ += frequency;
}

void Dictionary::count(std::string_view document) {
  for (const Word& word : words_of(document)) add(word.lower, 1);
}

std::optional<double> Dictionary::frequency(const std::string& lower_case_word) const {
  const auto found = frequencies_.find(lower_case_word);
  return found == frequencies_.end() ? std::nullopt : std::optional<double>(found->second);
}

Result<Dictionary> Dictionary::parse(std::string_view text, const std::string& source) {
  Dictionary dictionary;
  std::optional<bool> counted;
  int64_t number = 0;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::vector<std::string_view> parts = fields(line);
    if (parts.empty()) return bad_line(source, number, "an empty line in a dictionary");
    if (first_ill_formed_utf8(line)) return bad_line(source, number, "ill-formed UTF-8");
    if (parts.size() > 2) {
      return bad_line(source, number, "expected a word and its count, or a word alone");
    }
    const bool with_count = parts.size() == 2;
    if (counted.value_or(with_count) != with_count) {
      return bad_line(source, number,
                      with_count ? "a count, where the lines before have words alone"
                                 : "no count, which the lines before have");
    }
    counted = with_count;
    double frequency = kFirstRank / static_cast<double>(number);
    if (with_count) {
      const std::string_view digits = parts[1];
      const auto value = whole_number<int64_t>(digits);
      if (!value || *value < 1) {
        return bad_line(source, number,
                        "the count '" + std::string(digits) + "' is no whole number from 1 on");
      }
      frequency = static_cast<double>(*value);
    }
    dictionary.add(lower_case(with_plain_apostrophes(parts[0])), frequency);
  }
  if (dictionary.size() == 0) return data_error("a dictionary without words", source);
  return dictionary;
}

}  // namespace qfs::egad

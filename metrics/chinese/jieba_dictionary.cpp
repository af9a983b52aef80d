#include "metrics/chinese/jieba_dictionary.h"

#include <charconv>

#include "harness/core/text/unicode.h"
#include "harness/core/utf8.h"

namespace qfs::metrics {
namespace {

constexpr int64_t kLargestTotal = int64_t{1} << 53;  // beyond it, doubles no longer hold the sum

/// Python's bytes.strip().
std::string_view strip(std::string_view line) {
  constexpr std::string_view kSpaces = " \t\n\r\v\f";
  const size_t begin = line.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kSpaces) - begin + 1);
}

struct Entry {
  std::u32string word;
  int64_t frequency = 0;
};

/// The fault of a line, in words; empty when there is none.
std::string read_entry(std::string_view line, Entry& entry) {
  const std::string_view text = strip(line);
  if (first_ill_formed_utf8(text)) return "is not valid UTF-8";
  const size_t space = text.find(' ');
  if (space == 0 || space == std::string_view::npos) {
    return "is not of the form 'word frequency [tag]'";
  }
  const std::string_view number =
      text.substr(space + 1, std::min(text.find(' ', space + 1), text.size()) - space - 1);
  const char* const end = number.data() + number.size();
  const auto [stop, fault] = std::from_chars(number.data(), end, entry.frequency);
  if (fault != std::errc() || stop != end || entry.frequency < 0) {
    return "has the frequency '" + std::string(number) + "', expected a whole number from 0 on";
  }
  entry.word.clear();
  for (size_t i = 0; i < space;) {
    const CodePoint point = code_point_at(text, i);
    entry.word.push_back(point.value);
    i += point.bytes;
  }
  if (entry.word.size() > JiebaDictionary::kLongestWord) {
    return "has a word of " + std::to_string(entry.word.size()) + " characters, at most " +
           std::to_string(JiebaDictionary::kLongestWord) + " are read";
  }
  return {};
}

}  // namespace

Result<JiebaDictionary> JiebaDictionary::parse(std::string_view text, const std::string& name) {
  JiebaDictionary dictionary;
  Entry entry;
  int64_t total = 0;
  int64_t line = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    ++line;
    const std::string fault = read_entry(text.substr(begin, end - begin), entry);
    if (!fault.empty()) {
      return data_error("the dictionary's line " + fault, name + ":" + std::to_string(line));
    }
    if (entry.frequency > kLargestTotal - total) {
      return data_error("the dictionary's frequencies sum to more than 2^53",
                        name + ":" + std::to_string(line));
    }
    total += entry.frequency;
    dictionary.words_.add(entry.word, static_cast<double>(entry.frequency));
    begin = end + 1;
  }
  if (total == 0) return data_error("the dictionary has no word with a frequency above 0", name);
  const double log_total = std::log(static_cast<double>(total));
  dictionary.unknown_ = 0.0 - log_total;
  dictionary.words_.change_weights([log_total](double frequency) {
    return frequency > 0 ? std::log(frequency) - log_total
                         : std::numeric_limits<double>::quiet_NaN();
  });
  return dictionary;
}

bool JiebaDictionary::contains(std::u32string_view text) const {
  WordTrie::Node node = WordTrie::kRoot;
  for (char32_t code : text) {
    node = words_.child(node, code);
    if (node == WordTrie::kNone) return false;
  }
  return words_.is_word(node);
}

}  // namespace qfs::metrics

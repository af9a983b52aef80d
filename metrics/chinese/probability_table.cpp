#include "metrics/chinese/probability_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "harness/core/text/unicode.h"

namespace qfs::metrics {
namespace {

class TableReader {
 public:
  TableReader(std::string_view source, const std::string& name) : source_(source), name_(name) {}

  Result<std::vector<TableEntry>> read(int levels) {
    at_ = std::min(source_.find('{'), source_.size());
    std::vector<TableEntry> entries;
    if (Status status = dictionary(levels, 0, entries); !status) return status.error();
    skip_space();
    if (at_ != source_.size()) return fault("text follows the table");
    return entries;
  }

 private:
  Error fault(const std::string& message) const {
    const auto line = 1 + std::ranges::count(source_.substr(0, at_), '\n');
    return data_error("not a table of probabilities as jieba has them: " + message,
                      name_ + ":" + std::to_string(line));
  }

  void skip_space() { at_ = std::min(source_.find_first_not_of(" \t\r\n", at_), source_.size()); }

  bool take(char c) {
    skip_space();
    if (at_ == source_.size() || source_[at_] != c) return false;
    ++at_;
    return true;
  }

  Status dictionary(int levels, char32_t outer, std::vector<TableEntry>& entries) {
    if (!take('{')) return fault("'{' expected");
    while (!take('}')) {
      const std::optional<char32_t> key = character();
      if (!key) return fault("a key of one character in single quotes expected");
      if (!take(':')) return fault("':' expected");
      Status status =
          levels > 1 ? dictionary(levels - 1, *key, entries) : number(outer, *key, entries);
      if (!status) return status;
      if (take(',')) continue;
      if (!take('}')) return fault("',' or '}' expected");
      break;
    }
    return {};
  }

  Status number(char32_t outer, char32_t key, std::vector<TableEntry>& entries) {
    skip_space();
    double value = 0;
    const char* const begin = source_.data() + at_;
    const auto [stop, error] = std::from_chars(begin, source_.data() + source_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) return fault("a number expected");
    at_ += static_cast<size_t>(stop - begin);
    entries.push_back(outer == 0 ? TableEntry{key, 0, value} : TableEntry{outer, key, value});
    return {};
  }

  /// 'x', '\u4e00' or '\U00020000'.
  std::optional<char32_t> character() {
    if (!take('\'') || at_ == source_.size()) return std::nullopt;
    char32_t value = 0;
    if (source_[at_] == '\\') {
      const std::optional<char32_t> escaped = escape();
      if (!escaped) return std::nullopt;
      value = *escaped;
    } else {
      const CodePoint point = code_point_at(source_, at_);
      value = point.value;
      at_ += point.bytes;
    }
    if (value == 0 || at_ == source_.size() || source_[at_] != '\'') return std::nullopt;
    ++at_;
    return value;
  }

  std::optional<char32_t> escape() {
    const char kind = at_ + 1 < source_.size() ? source_[at_ + 1] : '\0';
    const size_t digits = kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    const std::string_view hex = source_.substr(std::min(at_ + 2, source_.size()), digits);
    if (digits == 0 || hex.size() != digits) return std::nullopt;
    uint32_t value = 0;
    const auto [stop, error] = std::from_chars(hex.data(), hex.data() + digits, value, 16);
    if (error != std::errc() || stop != hex.data() + digits) return std::nullopt;
    at_ += 2 + digits;
    return static_cast<char32_t>(value);
  }

  std::string_view source_;
  const std::string& name_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<TableEntry>> read_probability_table(std::string_view source, int levels,
                                                       const std::string& name) {
  return TableReader(source, name).read(levels);
}

}  // namespace qfs::metrics

// The lines of a text that is already in memory, with their numbers; what readers of verified files
// use instead of LineReader, which reads from disk. TextLines is not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/api/result.h"

namespace qfs::datasets {

class TextLines {
 public:
  /// Lines of characters in `blank` alone are left out.
  explicit TextLines(std::string_view text, std::string_view blank = " \t\r")
      : rest_(text), blank_(blank) {}

  /// The next line without its end (\n or \r\n) that is not blank; std::nullopt at the end.
  std::optional<std::string_view> next() {
    while (!rest_.empty()) {
      size_t end = rest_.find('\n');
      std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      ++number_;
      if (line.find_first_not_of(blank_) == std::string_view::npos) continue;
      if (line.ends_with('\r')) line.remove_suffix(1);
      return line;
    }
    return std::nullopt;
  }

  /// Number of the line that `next` returned last, from 1.
  int64_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::string_view blank_;
  int64_t number_ = 0;
};

/// Ill-formed UTF-8 is a `data` error at source:line.
Status check_utf8(std::string_view text, const std::string& source);

/// "source:line" of a byte of the text.
std::string line_place(std::string_view text, size_t at, const std::string& source);

}  // namespace qfs::datasets

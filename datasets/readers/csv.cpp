#include "datasets/readers/csv.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "harness/core/utf8.h"

namespace qfs::datasets {
namespace {

constexpr size_t kMaxColumns = 4096;

/// Reads rows one after the other.
class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  /// The next row that is not an empty line; std::nullopt at the end.
  Result<std::optional<CsvRow>> next() {
    while (at_ < text_.size() && skip_line_end()) {
    }
    if (at_ == text_.size()) return std::optional<CsvRow>();
    CsvRow row;
    row.line = line_;
    while (true) {
      if (row.cells.size() == kMaxColumns) {
        return error("a row has more than " + std::to_string(kMaxColumns) + " cells");
      }
      Result<std::string> cell = text_at(at_) == '"' ? quoted_cell() : plain_cell();
      if (!cell) return cell.error();
      row.cells.push_back(*std::move(cell));
      if (text_at(at_) == ',') {
        ++at_;
        continue;
      }
      if (at_ == text_.size() || skip_line_end()) return std::optional<CsvRow>(std::move(row));
      return error("text after the closing quote of a cell");
    }
  }

  Error error(std::string message) const { return error_at(std::move(message), line_); }
  Error error_at(std::string message, int64_t line) const {
    return data_error(std::move(message), source_ + ":" + std::to_string(line));
  }

 private:
  char text_at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  bool skip_line_end() {
    size_t length = text_.substr(at_, 2) == "\r\n" ? 2 : (text_at(at_) == '\n' ? 1 : 0);
    at_ += length;
    if (length > 0) ++line_;
    return length > 0;
  }

  Result<std::string> plain_cell() {
    size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n') {
      if (text_[at_] == '"') {
        return error(
            "a quote inside a cell that does not begin with one; quote the whole cell and "
            "double the quotes in it");
      }
      if (text_.substr(at_, 2) == "\r\n") break;
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<std::string> quoted_cell() {
    int64_t opened = line_;
    std::string cell;
    for (++at_; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == '"') {
        if (text_at(at_ + 1) != '"') {
          ++at_;
          return cell;
        }
        ++at_;
      }
      if (c == '\n') ++line_;
      cell += c;
    }
    return error_at("a quoted cell is never closed", opened);
  }

  std::string_view text_;
  const std::string& source_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

Status check_utf8(std::string_view text, const std::string& source) {
  std::optional<size_t> bad = first_ill_formed_utf8(text);
  if (!bad) return {};
  auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*bad), '\n');
  return data_error("ill-formed UTF-8 at byte " + std::to_string(*bad),
                    source + ":" + std::to_string(line));
}

}  // namespace

Result<CsvTable> parse_csv(std::string_view text, const std::string& source) {
  Status encoding = check_utf8(text, source);
  if (!encoding) return encoding.error();
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  CsvParser parser(text, source);
  Result<std::optional<CsvRow>> row = parser.next();
  if (!row) return row.error();
  if (!row->has_value()) return parser.error("an empty file; expected a header line");
  CsvTable table;
  table.header = std::move((*row)->cells);
  std::set<std::string> names;
  for (const std::string& name : table.header) {
    if (!names.insert(name).second) {
      return parser.error_at("column '" + name + "' is in the header twice", (*row)->line);
    }
  }
  while (true) {
    row = parser.next();
    if (!row) return row.error();
    if (!row->has_value()) return table;
    if ((*row)->cells.size() != table.header.size()) {
      return parser.error_at("a row of " + std::to_string((*row)->cells.size()) +
                                 " cells under a header of " + std::to_string(table.header.size()),
                             (*row)->line);
    }
    table.rows.push_back(*std::move(*row));
  }
}

}  // namespace qfs::datasets

#include "datasets/readers/csv.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "datasets/text_lines.h"

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

Status check_header(const std::vector<std::string>& header, const std::string& source,
                    int64_t line) {
  std::set<std::string> names;
  for (const std::string& name : header) {
    if (names.insert(name).second) continue;
    return data_error("column '" + name + "' is in the header twice",
                      source + ":" + std::to_string(line));
  }
  return {};
}

Error wrong_width(const CsvRow& row, const std::vector<std::string>& header,
                  const std::string& source) {
  return data_error("a row of " + std::to_string(row.cells.size()) + " cells under a header of " +
                        std::to_string(header.size()),
                    source + ":" + std::to_string(row.line));
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
  Status unique = check_header(table.header, source, (*row)->line);
  if (!unique) return unique.error();
  while (true) {
    row = parser.next();
    if (!row) return row.error();
    if (!row->has_value()) return table;
    if ((*row)->cells.size() != table.header.size()) {
      return wrong_width(**row, table.header, source);
    }
    table.rows.push_back(*std::move(*row));
  }
}

Result<CsvTable> parse_tsv(std::string_view text, const std::string& source,
                           std::vector<std::string> header) {
  Status encoding = check_utf8(text, source);
  if (!encoding) return encoding.error();
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  CsvTable table;
  table.header = std::move(header);
  TextLines lines(text, " \r");  // tabs alone are a row of empty cells
  while (std::optional<std::string_view> line = lines.next()) {
    CsvRow row;
    row.line = lines.number();
    for (size_t begin = 0; begin <= line->size();) {
      const size_t end = std::min(line->find('\t', begin), line->size());
      row.cells.emplace_back(line->substr(begin, end - begin));
      begin = end + 1;
    }
    if (table.header.empty()) {
      table.header = std::move(row.cells);
      Status unique = check_header(table.header, source, row.line);
      if (!unique) return unique.error();
    } else if (row.cells.size() != table.header.size()) {
      Error error = wrong_width(row, table.header, source);
      if (line->find('"') != std::string_view::npos) {
        error.message += "; quotation marks are part of a TSV cell, which has no tab or line break";
      }
      return error;
    } else {
      table.rows.push_back(std::move(row));
    }
  }
  if (table.header.empty()) {
    return data_error("an empty file; expected a header line", source + ":1");
  }
  return table;
}

nlohmann::json row_object(const std::vector<std::string>& header, CsvRow row) {
  nlohmann::json record = nlohmann::json::object();
  for (size_t i = 0; i < row.cells.size(); ++i) record[header[i]] = std::move(row.cells[i]);
  return record;
}

}  // namespace qfs::datasets

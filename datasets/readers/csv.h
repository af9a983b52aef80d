// CSV after RFC 4180: quoted cells with "" for a quote and line ends inside, CRLF or LF, one header
// line; and TSV, whose cells end at a tab or the line's end, whatever is in them. Used by the
// readers of tables and fuzzed. Thread-safe; a malformed table is a `data` error at
// source:line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "harness/core/json_dom.h"

namespace qfs::datasets {

struct CsvRow {
  int64_t line = 0;  ///< where the row begins, from 1
  std::vector<std::string> cells;
};

struct CsvTable {
  std::vector<std::string> header;
  std::vector<CsvRow> rows;  ///< each with as many cells as the header
};

/// `source` names the text in errors. A leading byte-order mark is dropped; empty lines are
/// skipped.
Result<CsvTable> parse_csv(std::string_view text, const std::string& source);

/// The same of tab-separated lines; `header` names the columns of a file that has no header line.
Result<CsvTable> parse_tsv(std::string_view text, const std::string& source,
                           std::vector<std::string> header = {});

/// A row as a record: its cells under their columns' names.
nlohmann::json row_object(const std::vector<std::string>& header, CsvRow row);

}  // namespace qfs::datasets

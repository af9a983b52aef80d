// CSV (RFC 4180, UTF-8, header line) of a report table in long form, for spreadsheets and R.
//
// Called by the command line. Pure function, thread-safe, cannot fail; foreign text is escaped.
#pragma once

#include <string>

#include "reports/table.h"

namespace qfs::reports {

/// One record a cell and value: row and column labels, the value's name, status, number (unscaled),
/// both ends of its spread, examples, clusters, ids
/// (those of several seeds between spaces), seeds and their standard deviation, marks.
std::string write_csv(const Table& table);

}  // namespace qfs::reports

// JSON of a report table, schema "qfs-bench/report/1", for programs.
//
// Called by the command line. Pure function, thread-safe, cannot fail.
#pragma once

#include <string>

#include "reports/table.h"

namespace qfs::reports {

/// Sorted keys, numbers unscaled with all their digits, no dates, paths or row numbers: equal
/// tables give equal bytes.
std::string write_json(const Table& table);

}  // namespace qfs::reports

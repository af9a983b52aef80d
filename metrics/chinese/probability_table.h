// Reads the probability tables that jieba keeps as Python source: `P={'B': {'\u4e00': -3.65, …},
// …}`.
//
// Called by JiebaHmm. Understands just that: one dictionary literal, possibly of dictionaries,
// whose keys are strings of one character and whose values are numbers; what stands before the
// first '{' is not looked at, nothing may follow the last '}'. Pure; a `data` error names file and
// line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"

namespace qfs::metrics {

struct TableEntry {
  char32_t outer = 0;
  char32_t inner = 0;  ///< 0 in a table of one level
  double value = 0;
};

/// `levels`: 1 or 2. Entries in the order of the file.
Result<std::vector<TableEntry>> read_probability_table(std::string_view source, int levels,
                                                       const std::string& name);

}  // namespace qfs::metrics

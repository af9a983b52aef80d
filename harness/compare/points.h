// "rougeL.f=0.5pt": a column and so many points of the table, as margins are written on command
// lines and in policies. Used by `compare` and gates. Pure; thread-safe. `invalid_argument` says
// how it is written, and with which unit.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "harness/compare/decision.h"

namespace qfs::compare {

struct ColumnPoints {
  std::string column;
  double size = 0;  ///< at least 0, on the scale of the statistics
};

/// `option` is where the text comes from, for messages.
Result<ColumnPoints> parse_column_points(std::string_view text, std::string_view option);

/// Adds the margin that a text says; a column has one.
Status add_margin(std::string_view text, std::string_view option, Rule rule,
                  std::map<std::string, Margin>& margins);

}  // namespace qfs::compare

// LaTeX of a report table, for papers: needs the package booktabs and nothing else.
//
// Called by the command line. Pure function, thread-safe, cannot fail; foreign text is escaped.
#pragma once

#include <string>

#include "reports/table.h"

namespace qfs::reports {

/// One table environment a grid, each with its caption, label and notes, so that one can be pasted
/// without the others. Best numbers are bold, significant differences and oracles are marked,
/// spreads are small behind their numbers.
std::string write_latex(const Table& table);

}  // namespace qfs::reports

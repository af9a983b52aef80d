// Cells, labels and headings as people read them; shared by the writers for people. Plain text:
// each writer escapes for its own format. Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/table.h"

namespace qfs::reports {

/// Words and numbers of the program only, so that no writer needs to escape them:
/// "33.52 [31.1, 35.9]", "33.52 ± 0.41" of several seeds, "33.52 (n/a: 7 clusters)", "0.00 [0.0,
/// 0.0] (20/20 empty)", "412", "OOM", "failed (signal 9)", "incomplete (12/20)", "not scored", "not
/// measured", "not reported", "–" where the value does not apply,
/// "" where the sweep has no cell.
std::string cell_text(const TableValue& value, const TableCell& cell);

/// "33.52": the number as every writer for people prints it.
std::string number_text(const TableValue& value, double number);

/// A cell's number and what stands behind it, as people are shown them; of a cell without a number
/// the first is empty.
struct CellText {
  std::string number;
  std::string behind;
};

/// Of a difference: "+9.07", " [6.9, 11.1] (p 0.0003)".
CellText shown_text(const TableValue& value, const TableCell& cell);

/// What stands behind a cell's number, " [31.1, 35.9] (3/12 empty)"; of a cell without one, all.
std::string behind_number(const TableValue& value, const TableCell& cell);

/// Whether the smallest and the largest of several repetitions stand behind the number.
bool shows_repetitions(const TableCell& cell);

/// Behind the number of a cell that differs significantly from the baseline's.
inline constexpr const char* kSignificantMark = "*";

/// The labels of a row or a column, one an axis, "–" where an axis does not apply; the method (else
/// the first label) of an oracle carries a dagger.
std::vector<std::string> shown_labels(const std::vector<std::string>& axes, const AxisEntry& entry);

}  // namespace qfs::reports

// Figure: the curves of a table, independent of how they are drawn: one panel a value and data set,
// one line a row, over an axis of the table whose labels are numbers.
//
// Made by curves_of from a Table, consumed by writers/svg.h. Plain data; pure; thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "reports/table.h"

namespace qfs::reports {

/// One cell; numbers as the table prints them (times its scale), not rounded.
struct FigurePoint {
  double x = 0;
  std::optional<double> y;       ///< none: `trouble` says why
  std::optional<Spread> spread;  ///< interval, smallest to largest, or mean ± sd of seeds
  std::string trouble;           ///< "OOM", "failed (signal 9)"
};

struct FigureLine {
  size_t series = 0;                     ///< index into Figure::series
  std::vector<FigurePoint> points = {};  ///< by x
  /// Of a row to which the axis does not apply, which has no points; without a number `trouble`
  /// says why.
  std::optional<double> constant = {};
  std::string trouble = {};
};

struct FigurePanel {
  std::string title;
  std::vector<FigureLine> lines;
};

struct FigureSeries {
  std::string name;
  bool oracle = false;
};

struct Figure {
  std::string title;
  std::string axis;          ///< "local_context"
  bool differences = false;  ///< of scores, which are read against a line at 0
  std::vector<double> xs;    ///< every value of the axis, ascending
  std::vector<FigureSeries> series;
  std::vector<FigurePanel> panels;
  std::vector<std::string> notes;  ///< what bands and marks mean, plain text
  std::string signature;           ///< what was computed, and how
};

/// More lines than this cannot be told apart.
inline constexpr size_t kMostLines = 24;

/// The axis is the last of the columns whose labels are two or more numbers, else such an axis of
/// the rows; the seed is none. `invalid_argument` for a table without one, and for more than
/// kMostLines lines.
Result<Figure> curves_of(const Table& table);

}  // namespace qfs::reports

// Front: the cells of a table as points of what they cost and what they are worth, with those that
// no other beats in both.
//
// Made by fronts_of from a Table, consumed by writers/svg.h. Plain data; pure; thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "reports/table.h"

namespace qfs::reports {

/// One cell; numbers as the table prints them (times their scales), not rounded.
struct FrontPoint {
  size_t series = 0;  ///< index into Front::series
  std::string label;  ///< on the axis of numbers, "512"; empty where there is none
  double x = 0;
  double y = 0;
  std::optional<Spread> x_spread;
  std::optional<Spread> y_spread;
  std::string comparable;  ///< points compete where it is equal; empty: with none
  bool oracle = false;     ///< no competitor
  bool best = false;       ///< no competitor is better in one and as good in the other
};

/// A score over a value of speed, memory or cost.
struct FrontPanel {
  std::string title;  ///< of a data set; may be empty
  std::string x_title;
  std::string y_title;
  Better x_better = Better::unknown;
  Better y_better = Better::unknown;
  std::vector<FrontPoint> points;
};

struct Front {
  std::string title;
  std::vector<std::string> series;
  std::vector<FrontPanel> panels;
  std::vector<std::string> notes;
  std::string signature;
};

/// Every score of the table over every other value that is better when higher or lower, a panel a
/// data set. `invalid_argument` for a table without a pair of such values, and for more series than
/// can be told apart.
Result<Front> fronts_of(const Table& table);

}  // namespace qfs::reports

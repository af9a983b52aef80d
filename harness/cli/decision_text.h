// The words of a decision on a margin, and how the values of a column are printed.
//
// Used by `compare` and `gate`, which say the same of the same numbers. The texts hold no names, so
// nothing to escape. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/api/metric_columns.h"
#include "harness/compare/comparison.h"

namespace qfs::cli {

/// Shares are printed times 100 (is_share), others as they are.
struct Shown {
  double scale = 1;
  int decimals = 4;

  explicit Shown(std::string_view column)
      : scale(table_scale(column)), decimals(is_share(column) ? 2 : 4) {}
  std::string value(double value) const;
  std::string change(double value) const;
  std::string points(double value) const;
  std::string interval(const metrics::Interval& interval) const;
};

/// A p-value is never shown as 0.
std::string p_text(double p);

/// "PASS: the drop is less than 1.00 points (p = 0.0123)"; `column` has a decision, `unit` is what
/// a cluster is.
std::string decision_text(const compare::ComparedColumn& column, const std::string& unit);

nlohmann::json decision_json(const compare::Decision& decision, double scale);
nlohmann::json better_json(Better better);
nlohmann::json not_compared_json(const std::vector<compare::NotCompared>& cells);

}  // namespace qfs::cli

// Differences: the comparisons of one command as a picture shows them, a panel a column and a line
// a pair: B minus A with its interval, and what the test says of it.
//
// Made by differences_of from an Outcome, consumed by writers/svg.h. Numbers are as tables print
// them (shares times 100), not rounded. Plain data; pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/compare/comparison.h"
#include "reports/table.h"

namespace qfs::reports {

/// What the two-sided test after Holm says, at compare::kLevel.
enum class DifferenceKind { not_shown, better, worse, differs };  ///< differs: neither is better

struct DifferenceLine {
  std::string name;
  double difference = 0;
  std::optional<Spread> interval;  ///< 95 %; none where there are too few clusters
  std::optional<double> margin;    ///< the difference at which a loss is as large as was allowed
  double p_holm = 1;
  int64_t higher = 0;  ///< examples on which B is higher
  int64_t equal = 0;
  int64_t lower = 0;
  DifferenceKind kind = DifferenceKind::not_shown;
};

struct DifferencePanel {
  std::string title;  ///< "rouge1.f × 100"
  int decimals = 2;
  std::vector<DifferenceLine> lines;
};

struct Differences {
  std::string title;
  std::vector<DifferencePanel> panels;  ///< in the order in which columns come
  std::vector<std::string> notes;
  std::string signature;
};

/// More lines than this are no picture.
inline constexpr size_t kMostDifferences = 400;

/// `invalid_argument` where nothing was compared, and for more than kMostDifferences lines.
Result<Differences> differences_of(const compare::Outcome& outcome);

}  // namespace qfs::reports

// `score --explain-diff A B`: what differs between two signatures and, on the user's texts, what
// each difference is worth.
//
// Called by `score`. Without texts the differences are only named. With texts every option in which
// the two computations differ is switched from A's value to B's, in the order strip, stem, split,
// nltk, multi, agg, geometric_mean, then as the metric declares them, then post: alone, all others
// at A's, and cumulatively, those before it already at B's. Options that have no meaning without
// one another (smooth_value without smooth) are one switch, "smooth+smooth_value". Different
// metrics are one switch, "metric". Not thread-safe; errors are those of the metrics.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/score/computation.h"
#include "harness/score/signature_fields.h"

namespace qfs::score {

struct SignatureDifference {
  std::string key;  ///< "metric" for the first part
  std::string a;    ///< empty: not there
  std::string b;
  bool of_run = false;  ///< of the run, not of the metric
};

/// In the order of A, then what only B has; the metric's first.
std::vector<SignatureDifference> differences(const SignatureFields& a, const SignatureFields& b);

/// Columns to values, 0..1.
using ColumnValues = std::map<std::string, double>;

struct Contribution {
  std::string key;
  ColumnValues alone;     ///< this option at B's, all others at A's, minus A
  ColumnValues in_order;  ///< minus the value with the options before it at B's
};

struct ExplainedDifference {
  std::vector<SignatureDifference> differences;
  bool with_texts = false;
  ColumnValues a;
  ColumnValues b;
  std::vector<Contribution> contributions;
  ColumnValues interaction;  ///< b - a - the sum of `alone`
};

/// Both computations over `items`, which have what both metrics need; `differences` is left empty.
Result<ExplainedDifference> explain_difference(const Computation& a, const Computation& b,
                                               std::span<const ScoreItem> items,
                                               const MetricCatalog& catalog);

}  // namespace qfs::score

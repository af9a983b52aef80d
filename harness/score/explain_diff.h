// `score --explain-diff A B`: what differs between two signatures and, on the user's texts, what
// each difference is worth.
//
// Called by `score`. Without texts the differences are only named. With texts every
// option in which two signatures of `rouge` (or `ideal`) differ is switched from A's value to B's,
// in the order strip, stem, split, multi, agg, gmean, post: alone, all others at A's, and
// cumulatively, those before it already at B's. Different metrics are one switch, "metric". Not
// thread-safe; a signature that cannot be computed here is an error that says why.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/score/signature_fields.h"

namespace qfs::score {

struct SignatureDifference {
  std::string key;  ///< "metric" for the first part
  std::string a;    ///< empty: not there
  std::string b;
};

/// In the order of A, then what only B has.
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

/// `items` empty: differences only.
Result<ExplainedDifference> explain_difference(const SignatureFields& a, const SignatureFields& b,
                                               std::span<const ScoreItem> items,
                                               const MetricCatalog& catalog);

}  // namespace qfs::score

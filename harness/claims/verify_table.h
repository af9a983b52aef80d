// Anybody's table: a CSV of printed numbers and the files that they were computed from, as claims.
//
// Called by `verify`. Reads the CSV only; the evaluator reads the files. Pure; thread-safe. Errors
// are `data` with file:line, and name the column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "harness/claims/collection.h"
#include "harness/claims/evaluate.h"

namespace qfs::claims {

/// The name of the folder of predictions among the places of an evaluator.
inline constexpr const char* kPredictions = "predictions";

/// A line of the CSV beyond its claim.
struct VerifyLine {
  std::string cell;  ///< filter of the cell in a sweep that made the predictions; may be empty
  int64_t line = 0;
};

struct VerifyTable {
  Paper paper;                    ///< with one table
  std::vector<VerifyLine> lines;  ///< one a claim
  ShownTable shown() const;       ///< refers to `paper`
};

/// Header: row, column, printed, predictions, references, metric, value; optional: tolerance, cell.
/// `references` is a line file beside the predictions, "dataset:NAME:SPLIT:VIEW", or empty where
/// the predictions are records that hold them.
Result<VerifyTable> read_verify_table(std::string_view text, const std::string& path);

/// Sentences for a review: what was recomputed, what agrees, each number that does not, and outputs
/// that lack, which `missing` left out or scored as empty.
std::string review_text(const VerifyTable& table, const std::vector<Finding>& findings,
                        score::MissingPolicy missing = score::MissingPolicy::error);

}  // namespace qfs::claims

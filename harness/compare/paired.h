// Paired statistics: two results under one metric, aligned example by example, for paired tests and
// side-by-side tables. Called by comparisons. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/compare/cell_source.h"

namespace qfs::compare {

struct PairedStatistics {
  std::vector<std::string> columns;
  /// Whether the corpus value of a column is the mean of its items in both results; a difference of
  /// means says nothing about the others.
  std::vector<bool> is_mean;
  std::vector<Better> better;         ///< of each column, by its metric
  std::vector<double> noise;          ///< of each column: what numerics alone change; may be empty
  std::vector<int64_t> ordinals;      ///< examples that both results have, ascending
  std::vector<std::string> ids;       ///< their names where they are not numbered, or empty
  std::vector<std::string> clusters;  ///< their documents, same order
  std::vector<Statistics> first;
  std::vector<Statistics> second;
  std::vector<std::string> only_first;  ///< names of examples that the other result lacks
  std::vector<std::string> only_second;
  std::vector<std::string> only_first_clusters;  ///< theirs
  std::vector<std::string> only_second_clusters;
  int64_t empty_first =
      0;  ///< of those that both have: the scored text is nothing, or white space alone
  int64_t empty_second = 0;
};

/// One result under one metric.
struct ScoredResult {
  const store::ScoreJobRow& job;
  std::vector<ScoredRow> rows;  ///< by ordinal
};

/// Both are of one data set and one signature; `better` and `noise` are left to the caller.
PairedStatistics paired_statistics(ScoredResult first, ScoredResult second);

/// The same of two groups of results that differ in their seeds only: statistics of an example are
/// means over its group. A column is a mean where it is one in every result. `invalid_argument` for
/// an empty group and for seeds that do not have the same examples.
Result<PairedStatistics> paired_statistics(std::vector<ScoredResult> first,
                                           std::vector<ScoredResult> second);

}  // namespace qfs::compare

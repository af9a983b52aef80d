// Paired statistics: two results under one metric, aligned example by example, for paired tests and
// side-by-side tables. Called by comparisons. Stateless; errors name the result.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/store/reader.h"

namespace qfs::compare {

struct PairedStatistics {
  std::vector<std::string> columns;
  /// Whether the corpus value of a column is the mean of its items in both results; a difference of
  /// means says nothing about the others.
  std::vector<bool> is_mean;
  std::vector<Better> better;         ///< of each column, by its metric
  std::vector<int64_t> ordinals;      ///< examples that both results have, ascending
  std::vector<std::string> ids;       ///< their names where they are not numbered, or empty
  std::vector<std::string> clusters;  ///< their documents, same order
  std::vector<Statistics> first;
  std::vector<Statistics> second;
  std::vector<std::string> only_first;  ///< names of examples that the other result lacks
  std::vector<std::string> only_second;
  std::vector<std::string> only_first_clusters;  ///< theirs
  std::vector<std::string> only_second_clusters;
  int64_t empty_first = 0;  ///< of those that both have: the scored text is empty
  int64_t empty_second = 0;
};

/// A result in a store; two results may lie in two stores.
struct StoredResult {
  store::Reader* reader = nullptr;
  store::ResultId id;
};

/// `not_found` when one of them has no score with this signature; `invalid_argument` when they are
/// of different data sets. `better` is left to the caller.
Result<PairedStatistics> paired_statistics(const StoredResult& first, const StoredResult& second,
                                           std::string_view signature);

/// The same of two groups of results that differ in their seeds only: statistics of an example are
/// means over its group. A column is a mean where it is one in every result. `invalid_argument` for
/// an empty group and for seeds that do not have the same examples.
Result<PairedStatistics> paired_statistics(std::span<const StoredResult> first,
                                           std::span<const StoredResult> second,
                                           std::string_view signature);

}  // namespace qfs::compare

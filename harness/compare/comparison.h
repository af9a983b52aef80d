// Comparison: two results on the same examples, column by column: means, difference with its
// interval, randomisation test, examples on which B is higher or lower, and what may be said about
// a margin. Outcome: all comparisons of one command, and everything that was not compared.
//
// Made by compare_stores.h and compare_items.h; shown by `compare`. A is the baseline, B the
// candidate: differences are B minus A. Values are on the scale of the statistics; points of a
// table are for who prints. Plain data and pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/compare/decision.h"
#include "harness/compare/paired.h"
#include "metrics/stats/bootstrap.h"

namespace qfs::compare {

struct Request {
  std::vector<std::string> columns;       ///< empty: all F values, else all
  std::map<std::string, Margin> margins;  ///< by column
  std::map<std::string, Better> better;   ///< by column, where the metric does not say it
  std::vector<std::string> pair_by;       ///< dimensions of cells; empty: by their ids
  bool skip_missing = false;  ///< examples that only A has are listed, and the rest is complete
  size_t examples = 3;        ///< how many of the most different
  // Of gates:
  double level = kLevel;          ///< chance of a false alarm of all tests together
  int64_t minimum_examples = 0;   ///< fewer decide nothing
  bool noise_floor = false;       ///< a margin is at least what numerics alone change
  bool unchanged_passes = false;  ///< equal scores of every example need no test
  bool decisions_only = false;    ///< no intervals and no two-sided p, which take the most time
};

struct ComparedColumn {
  std::string name;  ///< "rouge1.f"
  Better better = Better::unknown;
  double a = 0;
  double b = 0;
  metrics::PairedDifference difference;
  double p = 1;       ///< two-sided
  double p_holm = 1;  ///< over all columns and pairs of one command
  /// Examples on which B is higher; of a metric by groups, those that stand for theirs in both.
  int64_t higher = 0;
  int64_t equal = 0;
  int64_t lower = 0;
  std::optional<Decision> decision;
};

struct DifferentExample {
  int64_t ordinal = 0;
  std::string id;  ///< empty where examples are numbered
  double a = 0;
  double b = 0;
};

/// A parameter in which the two cells differ.
struct Difference {
  std::string name;
  std::string a;
  std::string b;
};

struct Comparison {
  std::string cell;  ///< A's, without its store; empty for files
  std::string a;     ///< what they are called
  std::string b;
  std::vector<Difference> differences;
  std::string metric;
  std::string signature;
  int64_t examples = 0;
  std::vector<std::string> only_a;  ///< names of examples that the other lacks
  std::vector<std::string> only_b;
  std::vector<std::string> clusters_only_a;  ///< clusters of which no example was compared
  std::vector<std::string> clusters_only_b;
  int64_t empty_a = 0;  ///< outputs without text
  int64_t empty_b = 0;
  int64_t clusters = 0;
  std::string unit = "document";  ///< what a cluster is
  double least_p = 0;             ///< two-sided, that any data on these clusters could have
  std::vector<ComparedColumn> columns;
  std::vector<std::string> left_out;             ///< columns whose corpus value cannot be resampled
  std::vector<DifferentExample> most_different;  ///< in the first column, largest first
};

struct NotCompared {
  std::string name;  ///< of a cell
  std::string reason;
};

struct Outcome {
  std::vector<Comparison> comparisons;
  std::vector<NotCompared> missing;  ///< cells of the baseline without a comparison
  std::vector<NotCompared> only_b;   ///< cells of the candidate alone
  std::vector<std::string> metrics;  ///< metrics that were passed over, a sentence each
  bool lost_metric = false;          ///< one of them is the baseline's
  std::vector<std::string> advice;   ///< what would pair more
  bool skip_missing = false;         ///< as requested

  /// Whether everything of the baseline was compared.
  bool complete() const;
  bool any(Verdict verdict) const;
};

/// One metric of two results. `metric` makes corpus values that are no means of examples, as BLEU's
/// is; without it, and where it aggregates in another way still, their columns are left out.
/// `invalid_argument` for a margin on a column that has no better direction or no test, and for a
/// requested direction that is not the metric's.
Result<Comparison> compare_metric(const PairedStatistics& paired, const Request& request,
                                  const Metric* metric);

/// `not_found` for a column that was asked for by name and is not among the known ones.
Status check_columns(const std::vector<std::string>& known, const Request& request);

/// Whether the request names no column, or one of these.
bool concerns(const Request& request, const std::vector<std::string>& columns);

/// Adjusts the tests of all comparisons and gives the verdicts.
void conclude(Outcome& outcome);

/// The interval of the mean of values of examples, by their documents: as many of both, not none.
Result<metrics::Interval> mean_interval(std::span<const double> values,
                                        std::span<const std::string> documents);

/// How intervals and the p of every comparison are computed.
std::string interval_signature();
std::string test_signature();

}  // namespace qfs::compare

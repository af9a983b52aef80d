// Comparison: two results on the same examples, column by column: means, difference with its
// interval, randomisation test, wins and losses, and the examples that differ most.
//
// Used by `compare`. A is the baseline, B the candidate: differences are B minus A. Statistics of
// stores are read, never measured again; those of files come from compare_files.h. Stateless;
// errors name the side.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/score/paired.h"
#include "metrics/stats/bootstrap.h"

namespace qfs::cli {

/// A drop that is allowed, and whether B is worse by more than it: by randomisation where the
/// corpus value is a mean of examples, else (BLEU) by the paired bootstrap.
struct DropTest {
  double margin = 0;
  double p = 1;                 ///< one-sided, of "the difference is not below -margin"
  bool worse = false;           ///< p below kLevel
  std::optional<double> bound;  ///< of the bootstrap: upper bound of the difference at 1 - kLevel
};

struct ComparedColumn {
  std::string name;  ///< "rouge1.f"
  double a = 0;
  double b = 0;
  metrics::PairedDifference difference;
  double p = 1;       ///< two-sided
  double p_holm = 1;  ///< over all columns and pairs of one command
  int64_t wins = 0;   ///< examples on which B is better
  int64_t ties = 0;
  int64_t losses = 0;
  std::optional<DropTest> drop;
};

struct DifferentExample {
  int64_t ordinal = 0;
  std::string id;  ///< empty where examples are numbered
  double a = 0;
  double b = 0;
};

struct Comparison {
  std::string a;  ///< titles
  std::string b;
  std::string metric;
  std::string signature;
  int64_t examples = 0;
  int64_t only_a = 0;
  int64_t only_b = 0;
  int64_t clusters = 0;
  std::string unit = "document";  ///< what a cluster is
  std::vector<ComparedColumn> columns;
  std::vector<std::string> left_out;             ///< columns whose corpus value cannot be resampled
  std::vector<DifferentExample> most_different;  ///< in the first column, largest first
};

struct ComparisonRequest {
  std::vector<std::string> columns;         ///< empty: all F values, else all
  std::map<std::string, double> max_drops;  ///< column -> allowed drop
  size_t examples = 3;                      ///< how many of the most different
};

/// The level of the one-sided test of a drop.
inline constexpr double kLevel = 0.05;

/// One metric of two results. `metric` makes corpus values that are no means of examples, as BLEU's
/// is; without it, and where it aggregates in another way still, their columns are left out.
Result<Comparison> compare_metric(const score::PairedStatistics& paired,
                                  const ComparisonRequest& request, const Metric* metric);

/// `not_found` for a column that was asked for by name and is not among the known ones.
Status check_columns(const std::vector<std::string>& known, const ComparisonRequest& request);

/// All metrics that both results have been scored with. A corpus value that is no mean of examples
/// (BLEU) is made of resampled statistics by its metric, when `catalog` has it under the stored
/// signature; else the column is left out. Errors: `not_found` when there is none, and for a column
/// that none of them has.
Result<std::vector<Comparison>> compare_results(const score::StoredResult& a,
                                                const score::StoredResult& b,
                                                const ComparisonRequest& request,
                                                const MetricCatalog& catalog);

/// Fills p_holm over everything that was tested.
void adjust_for_several(std::vector<Comparison>& comparisons);

std::string comparison_text(const std::vector<Comparison>& comparisons);
std::string comparison_json(const std::vector<Comparison>& comparisons);

}  // namespace qfs::cli

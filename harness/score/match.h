// `score --match`: which ways of computing a metric give published digits, on the user's own texts.
//
// Called by `score`; match_targets.cpp parses, match.cpp tries and counts. Not thread-safe. Targets
// that cannot be read are `invalid_argument` with the nearest valid name; a profile that cannot be
// computed here (absent data, texts it refuses) is listed, not an error.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"

namespace qfs::score {

/// Metrics that compute the same columns.
enum class MatchFamily { rouge, bleu, chrf, bertscore };

/// "rouge1=33.52": a column and its digits as printed.
struct MatchTarget {
  MatchFamily family = MatchFamily::rouge;
  std::string column;  ///< "rouge1.f"
  std::string printed;
  double value = 0;
  int decimals = 0;
  bool any_statistic = false;  ///< no letter was given: F, but perhaps recall or precision
  /// What a computed value is multiplied by: of ROUGE and of BERTScore 100 where any of the
  /// published values is over 1, else 1; BLEU and chrF are computed from 0 to 100.
  double scale = 100;

  /// Whether a computed value, rounded as printed, has these digits. A value on the edge may have
  /// been rounded either way.
  bool matches(double value_of_try) const;
};

/// "rouge1=33.52,rougeL=29.60,bleu=12.3"; "rouge2.r=…" for recall alone. By family.
Result<std::vector<std::vector<MatchTarget>>> parse_match_targets(std::string_view text);

/// One way of computing all targets.
struct MatchTry {
  std::string metric;          ///< as --profile takes it
  std::string reading;         ///< "recall; rougeL is its rougeLsum"; empty: columns by name
  std::vector<double> values;  ///< one per target
};

struct MatchReport {
  std::vector<MatchTarget> targets;
  std::vector<MatchTry> tries;
  std::vector<std::pair<std::string, std::string>> not_tried;  ///< metric, why
  size_t items = 0;
  size_t most_references = 0;

  std::vector<size_t> matching() const;
  /// Tries that print other digits than all before them.
  size_t distinct() const;
  /// How many of the distinct results would match by chance if each published value lay anywhere
  /// between the smallest and the largest value that was computed for it, every printable number
  /// equally likely: if the columns vary independently, and if they only vary together.
  std::pair<double, double> expected_by_chance() const;
  /// Indices of the tries with the smallest largest difference from the targets.
  std::vector<size_t> nearest(size_t count) const;
};

/// Corpus values that somebody has computed already, which is faster for many ways of one metric.
struct MatchTries {
  std::vector<std::pair<std::string, std::vector<Score>>> tried;  ///< metric, its columns
  std::vector<std::pair<std::string, std::string>> not_tried;     ///< metric, why
};

/// For targets of one family: `known`, then every other metric of `catalog` that computes them,
/// with the options that published numbers differ in.
Result<MatchReport> match_published(std::span<const ScoreItem> items,
                                    std::vector<MatchTarget> targets, const MetricCatalog& catalog,
                                    MatchTries known, unsigned threads);

}  // namespace qfs::score

// What one item's ROUGE is when it has several references, by policy.
//
// Called by RougeMetric and IdealMetric with the scores of the candidate against each reference.
// The sources of the policies: max, rouge_score 0.1.2 `score_multi` (and SQuALITY); best pair, the
// IDEAL notebook; best recall, ROUGE-1.5.5 `-f B`; pooled, its `-f A`; jack-knife, ROUGE 1.3 and
// DUC. Pure;
// thread-safe; an unknown name is `invalid_argument`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "metrics/rouge/prepared_reference.h"

namespace qfs::metrics {

enum class MultiKind {
  max,          ///< per variant the reference with the highest F
  best_pair,    ///< one reference for all variants, by one column
  mean,         ///< P, R and F averaged over the references
  first,        ///< the first reference only
  best_recall,  ///< per variant the reference with the highest recall
  pooled,       ///< hits and totals summed over the references, then divided
  jack_knife,   ///< mean over the sets that leave one reference out, of the set's max
};

/// rouge1, rouge2, rougeL, rougeLsum and p, r, f: the twelve columns of a row, in this order.
inline constexpr size_t kRougeVariants = 4;

struct MultiPolicy {
  MultiKind kind = MultiKind::max;
  size_t anchor = 8;  ///< of best_pair: an index of the twelve columns; 8 is rougeL.f

  friend bool operator==(const MultiPolicy&, const MultiPolicy&) = default;
};

/// "rouge1.p" … "rougeLsum.f".
std::string rouge_column(size_t index);

/// "max", "best:rougeL.f", "mean", "first", "best-recall", "pooled", "jack-knife".
Result<MultiPolicy> parse_multi_policy(std::string_view text);

/// As parse_multi_policy reads it.
std::string to_string(const MultiPolicy& policy);

/// As a signature has it: "max-f-per-metric", "best-pair(rougeL.f)", …
std::string multi_signature(const MultiPolicy& policy);

/// P, R or F by column index.
double column_value(const RougeScores& scores, size_t index);

/// Tokens of a candidate and of one reference: what their scores are ratios of.
struct RougeLengths {
  int64_t candidate = 0;
  int64_t reference = 0;
};

/// `scores` and `lengths` hold one entry a reference and are not empty. First reference on ties,
/// everywhere.
RougeScores combine_references(std::span<const RougeScores> scores,
                               std::span<const RougeLengths> lengths, const MultiPolicy& policy);

}  // namespace qfs::metrics

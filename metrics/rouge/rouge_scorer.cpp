#include "metrics/rouge/rouge_scorer.h"

#include "metrics/rouge/best_scores.h"

namespace qfs::metrics {
namespace {

Status check_length(const EncodedText& text, std::string_view role) {
  if (text.tokens.size() <= kMaxRougeTokens) return {};
  return invalid_argument(
      "the " + std::string(role) + " has " + std::to_string(text.tokens.size()) +
      " tokens; rouge scores texts of at most " + std::to_string(kMaxRougeTokens));
}

}  // namespace

std::string rouge_signature(const RougeOptions& options) {
  return std::string("rouge|compat:rouge_score-0.1.2|tok:ascii|lc:unicode|stem:") +
         (options.stem ? "porter-nltk" : "none") +
         "|split:newline|multi:max-f-per-metric|agg:mean|v:1";
}

RougeScores RougeScorer::score(const EncodedText& reference, const EncodedText& candidate) {
  prepared_.assign(reference);
  return prepared_.score(candidate);
}

Result<RougeScores> RougeScorer::score_multi(std::span<const std::string> references,
                                             std::string_view candidate) {
  if (references.empty()) {
    return invalid_argument("rouge needs at least one reference, this item has none");
  }
  const EncodedText encoded = encode(candidate);
  if (Status status = check_length(encoded, "candidate"); !status.ok()) return status.error();
  RougeScores best;
  for (const std::string& text : references) {
    const EncodedText reference = encode(text);
    if (Status status = check_length(reference, "reference"); !status.ok()) return status.error();
    keep_better(best, score(reference, encoded));
  }
  return best;
}

}  // namespace qfs::metrics

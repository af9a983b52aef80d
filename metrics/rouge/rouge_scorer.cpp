#include "metrics/rouge/rouge_scorer.h"

#include <algorithm>

namespace qfs::metrics {
std::string rouge_signature(const RougeOptions& options) {
  return std::string("rouge|compat:rouge_score-0.1.2|tok:ascii|lc:unicode|stem:") +
         (options.stem ? "porter-nltk" : "none") + "|split:" + options.split.signature() +
         "|multi:max-f-per-metric|agg:mean|v:1";
}

void RougeScorer::encode(std::string_view text, EncodedText& encoded) {
  if (split_.punkt == nullptr) {
    vocabulary_.encode(text, encoded);
    return;
  }
  encoded.tokens.clear();
  encoded.line_ends.clear();
  for (std::string_view sentence : split_.punkt->split(text)) {
    if (!split_.newlines_too) {
      vocabulary_.append_line(sentence, encoded);
      continue;
    }
    for (size_t begin = 0; begin <= sentence.size();) {
      const size_t end = std::min(sentence.find('\n', begin), sentence.size());
      vocabulary_.append_line(sentence.substr(begin, end - begin), encoded);
      begin = end + 1;
    }
  }
}

EncodedText RougeScorer::encode(std::string_view text) {
  EncodedText encoded;
  encode(text, encoded);
  return encoded;
}

RougeScores RougeScorer::score(const EncodedText& reference, const EncodedText& candidate) {
  prepared_.assign(reference);
  return prepared_.score(candidate);
}

Result<RougeScorer::Each> RougeScorer::score_each(std::span<const std::string> references,
                                                  std::string_view candidate) {
  if (references.empty()) {
    return invalid_argument("rouge needs at least one reference, this item has none");
  }
  encode(candidate, candidate_);
  Each each;
  each.scores.reserve(references.size());
  each.lengths.reserve(references.size());
  for (const std::string& text : references) {
    encode(text, reference_);
    Status status = check_lcs_size({candidate_.tokens.size(), candidate_.lines()},
                                   {reference_.tokens.size(), reference_.lines()});
    if (!status.ok()) return status.error();
    each.scores.push_back(score(reference_, candidate_));
    each.lengths.push_back({static_cast<int64_t>(candidate_.tokens.size()),
                            static_cast<int64_t>(reference_.tokens.size())});
  }
  return each;
}

Result<RougeScores> RougeScorer::score_multi(std::span<const std::string> references,
                                             std::string_view candidate) {
  const Result<Each> each = score_each(references, candidate);
  if (!each.ok()) return each.error();
  return combine_references(each->scores, each->lengths, {});
}

}  // namespace qfs::metrics

#include "metrics/bertscore/bert_scorer.h"

#include <algorithm>
#include <utility>

#include "metrics/bertscore/baseline.h"
#include "metrics/text/scored_texts.h"

namespace qfs::metrics {
namespace {

/// What Python's str.strip() leaves of ASCII white space; the encoder sees nothing else.
std::string stripped(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r\x1c\x1d\x1e\x1f";
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1));
}

Error at_item(Error error, const ScoreItem& item) {
  error.where = item_name(item);
  return error;
}

}  // namespace

Result<IdfWeights> BertScorer::corpus_weights(std::span<const ScoreItem> items) {
  if (!options_.idf) return IdfWeights();
  std::vector<std::vector<int32_t>> references;
  for (const ScoreItem& item : items) {
    for (const std::string& reference : item.references) {
      Result<std::vector<int32_t>> ids = encoder_->ids(stripped(reference));
      if (!ids) return at_item(ids.error(), item);
      references.push_back(*std::move(ids));
    }
  }
  return IdfWeights(references);
}

Result<std::shared_ptr<const TokenVectors>> BertScorer::vectors_of(const std::string& text) {
  if (const auto place = places_.find(text); place != places_.end()) {
    kept_.splice(kept_.begin(), kept_, place->second);
    return kept_.front().second;
  }
  Result<TokenVectors> encoded = encoder_->encode(text);
  if (!encoded) return encoded.error();
  truncated_ += encoded->truncated ? 1 : 0;
  normalize(*encoded);
  kept_.emplace_front(text, std::make_shared<const TokenVectors>(*std::move(encoded)));
  places_[kept_.front().first] = kept_.begin();
  if (kept_.size() > kKeptTexts) {
    places_.erase(kept_.back().first);
    kept_.pop_back();
  }
  return kept_.front().second;
}

Result<BertScores> BertScorer::score(const ScoreItem& item, const IdfWeights& weights) {
  const auto candidate = vectors_of(stripped(item.candidate));
  if (!candidate) return candidate.error();
  const std::vector<double> candidate_weights = weights.of(**candidate);
  std::optional<BertScores> best;
  for (const std::string& text : item.references) {
    const auto reference = vectors_of(stripped(text));
    if (!reference) return reference.error();
    const BertScores scores =
        greedy_match(**reference, weights.of(**reference), **candidate, candidate_weights);
    if (!best) best = scores;
    best->precision = std::max(best->precision, scores.precision);
    best->recall = std::max(best->recall, scores.recall);
    best->f = std::max(best->f, scores.f);
  }
  return options_.baseline ? rescaled(*best, *options_.baseline) : *best;
}

Result<std::vector<Statistics>> BertScorer::measure(std::span<const ScoreItem> items) {
  for (const ScoreItem& item : items) {
    if (Status status = check_texts(item, "bertscore"); !status) return status.error();
  }
  const Result<IdfWeights> weights = corpus_weights(items);
  if (!weights) return weights.error();
  std::vector<Statistics> rows;
  rows.reserve(items.size());
  for (const ScoreItem& item : items) {
    const Result<BertScores> scores = score(item, *weights);
    if (!scores) return at_item(scores.error(), item);
    rows.push_back({scores->precision, scores->recall, scores->f});
  }
  return rows;
}

}  // namespace qfs::metrics

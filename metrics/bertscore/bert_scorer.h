// BertScorer: BERTScore of items over an encoder that gives token vectors.
//
// Called where the encoder lives. Every distinct text of a call is encoded once while it is among
// the last ones seen; with idf all references are cut into tokens first, because the weights need
// the whole corpus. Several references: the largest P, R and F, each by itself, as in bert_score
// 0.3.13. Not thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "metrics/bertscore/greedy_matching.h"
#include "metrics/bertscore/idf_weights.h"
#include "metrics/bertscore/token_vectors.h"

namespace qfs::metrics {

/// What BERTScore needs of a model. Texts are valid UTF-8, without white space at their ends.
class TextEncoder {
 public:
  virtual ~TextEncoder() = default;
  /// The ids with special tokens, cut to what the model reads.
  virtual Result<std::vector<int32_t>> ids(std::string_view text) = 0;
  /// The same with vectors of any length.
  virtual Result<TokenVectors> encode(std::string_view text) = 0;
};

struct BertScoreOptions {
  bool idf = false;
  std::optional<BertScores> baseline;  ///< rescale by it
};

class BertScorer {
 public:
  BertScorer(const BertScoreOptions& options, std::unique_ptr<TextEncoder> encoder)
      : options_(options), encoder_(std::move(encoder)) {}

  /// One row {p, r, f} an item. With idf, `items` is the whole corpus. Errors: `invalid_argument`
  /// for an item without references, those of the encoder; both name the item.
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items);

  /// Texts that were longer than the encoder reads, of all that were encoded so far.
  int64_t truncated_texts() const { return truncated_; }

 private:
  /// Enough for the references of a question beside its candidate.
  static constexpr size_t kKeptTexts = 32;

  Result<IdfWeights> corpus_weights(std::span<const ScoreItem> items);
  Result<std::shared_ptr<const TokenVectors>> vectors_of(const std::string& text);
  Result<BertScores> score(const ScoreItem& item, const IdfWeights& weights);

  BertScoreOptions options_;
  std::unique_ptr<TextEncoder> encoder_;
  std::list<std::pair<std::string, std::shared_ptr<const TokenVectors>>> kept_;  ///< latest first
  std::unordered_map<std::string_view, decltype(kept_)::iterator> places_;       ///< of kept_
  int64_t truncated_ = 0;
};

}  // namespace qfs::metrics

// BertScorer: BERTScore of pairs of texts over an encoder that gives token vectors.
//
// Called where the encoder lives. A corpus is begun, its distinct texts are added, then items are
// scored by the numbers of their texts. A text is encoded once while its vectors are among those
// kept, also over corpora: references come again with every system. Several references: the largest
// P, R and F, each by itself, as in bert_score 0.3.13. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/metric_session.h"
#include "harness/api/result.h"
#include "metrics/bertscore/greedy_matching.h"
#include "metrics/bertscore/idf_weights.h"
#include "metrics/bertscore/text_encoder.h"

namespace qfs::metrics {

struct BertScoreOptions {
  bool idf = false;
  std::optional<BertScores> baseline;  ///< rescale by it
  /// 0: a pair's value is its own. Else that of bert_score's batches of so many pairs, in which
  /// padding is a token of similarity 0; all items are then scored in one call.
  int64_t batch = 0;
  size_t kept_bytes = size_t{2} << 30;     ///< of vectors; more only for the pairs at hand
  size_t window_tokens = size_t{1} << 16;  ///< encoded together: enough for every thread
};

class BertScorer {
 public:
  BertScorer(const BertScoreOptions& options, std::unique_ptr<TextEncoder> encoder)
      : options_(options), encoder_(std::move(encoder)), weights_(options.idf) {}

  /// Starts over with texts, numbers and idf counts.
  void begin_corpus();
  /// The text with the next number. Errors: those of the encoder.
  Result<const TokenVectors*> add(const CorpusText& text);
  /// One row {p, r, f} an item, once all texts of the corpus are there. `invalid_argument`: a
  /// number without text, an item without references.
  Result<std::vector<Statistics>> score(std::span<const TextPairs> items);

 private:
  struct Entry {
    TokenVectors tokens;
    int64_t corpus = 0;    ///< the last one that had it
    int64_t last_use = 0;  ///< of its vectors
  };

  Status check(std::span<const TextPairs> items) const;
  /// Encodes what the first items lack, as many as one window holds; how many items that are.
  Result<size_t> encode_window(std::span<const TextPairs> items);
  void make_room(size_t bytes);
  BertScores score(const TextPairs& item, std::span<const Padding> paddings) const;

  BertScoreOptions options_;
  std::unique_ptr<TextEncoder> encoder_;
  std::unordered_map<std::string, std::unique_ptr<Entry>> entries_;  ///< by stripped text
  std::vector<Entry*> texts_;                                        ///< by number
  IdfWeights weights_;
  size_t kept_bytes_ = 0;
  int64_t corpus_ = 0;
  int64_t window_ = 0;
};

}  // namespace qfs::metrics

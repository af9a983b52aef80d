// IdfWeights: how much each token counts in BERTScore.
//
// Called by BertScorer. Without a corpus every token counts 1 and special ones 0; with one, a token
// counts log((N + 1) / (df + 1)) over the N references, where one that no reference has counts
// log(N + 1). Source: bert_score 0.3.13, utils.py `get_idf_dict` and score.py. Thread-compatible.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "metrics/bertscore/token_vectors.h"

namespace qfs::metrics {

class IdfWeights {
 public:
  explicit IdfWeights(bool idf = false) : idf_(idf) {}

  /// Counts a reference of the corpus, special tokens included, as often as it comes.
  void add_reference(std::span<const int32_t> ids, int64_t times = 1);

  /// One weight a token, not normalized. With idf, special tokens have the weight of any token,
  /// which is near 0 because every reference has them.
  std::vector<double> of(const TokenVectors& text) const;

 private:
  bool idf_ = false;
  int64_t references_ = 0;
  std::unordered_map<int32_t, int64_t> holders_;  ///< references that have the token
};

}  // namespace qfs::metrics

// GramMatcher: clipped matches of n-grams and of skip-bigrams of one reference and one candidate.
//
// Called by Scorer. Both texts are in local ids: the reference's distinct tokens from 0, `types`
// for every token that it does not have. An n-gram is known by the (n-1)-gram that it begins with
// and its last token, so every level costs one look-up a position. Buffers stay. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "metrics/rouge155/gram_table.h"
#include "metrics/text/local_id.h"

namespace qfs::metrics::rouge155 {

using LocalSpan = std::span<const LocalId>;

class GramMatcher {
 public:
  /// Hits of n = 1 … max_n: the sum over distinct n-grams of min(count in both). The result is
  /// valid until the next call.
  std::span<const int64_t> ngrams(LocalSpan reference, LocalSpan candidate, LocalId types,
                                  int64_t max_n);

  /// Hits of ordered pairs with at most `gap` words between them (any number when negative), with
  /// `unigrams` single words too. As upstream, the last token of a text starts no pair and so is
  /// never counted as a single word.
  int64_t skip_grams(LocalSpan reference, LocalSpan candidate, LocalId types, int64_t gap,
                     bool unigrams);

 private:
  int64_t take(uint32_t id);

  GramTable table_;
  std::vector<uint32_t> left_;  ///< per id of a gram: occurrences in the reference not yet matched
  std::vector<uint32_t> reference_ids_;
  std::vector<uint32_t> candidate_ids_;
  std::vector<int64_t> hits_;
};

/// How many n-grams a text of `tokens` tokens has.
int64_t ngram_count(size_t tokens, int64_t n);
/// How many skip-grams, as `skip_grams` above counts them.
int64_t skip_gram_count(size_t tokens, int64_t gap, bool unigrams);

}  // namespace qfs::metrics::rouge155

// Summary: one text ready to be scored, and LocalTokens: a candidate in the numbers of a reference.
//
// Called by Scorer. All summaries of a run come from one Vocabulary. Not thread-safe; cannot fail.
#pragma once

#include <span>
#include <vector>

#include "metrics/rouge155/sentences.h"
#include "metrics/rouge155/vocabulary.h"
#include "metrics/text/local_id.h"
#include "metrics/text/vocabulary.h"

namespace qfs::metrics::rouge155 {

struct Summary {
  EncodedText sentences;         ///< what the LCS variants see
  std::vector<TokenId> bounded;  ///< what all others see, when a byte limit makes the two differ
  bool has_bounded = false;

  /// What n-grams are made of, and what clips the hits of the LCS variants.
  const std::vector<TokenId>& tokens() const { return has_bounded ? bounded : sentences.tokens; }
};

Summary encode(Vocabulary& vocabulary, const Sentences& sentences, const Limit& limit);

class LocalTokens {
 public:
  /// Numbers the distinct tokens of `reference` from 0.
  void set_reference(const Summary& reference);
  LocalId types() const { return types_; }
  /// Translates; a token that the reference lacks becomes types().
  void translate(std::span<const TokenId> tokens, std::vector<LocalId>& local) const;

 private:
  void add(std::span<const TokenId> tokens);

  LocalId types_ = 0;
  std::vector<TokenId> numbered_;
  std::vector<LocalId> local_of_;  ///< token id -> local id + 1; 0: not in the reference
};

}  // namespace qfs::metrics::rouge155

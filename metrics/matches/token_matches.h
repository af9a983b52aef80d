// TokenMatcher: where in two texts the words are that ROUGE counts as common, for pages that show
// why a score is what it is.
//
// The hits of rouge_score 0.1.2, or of rouge-zh over its segmenter's words, each at a place: the
// marked tokens are as many as ROUGE-1's hits, the marked pairs as ROUGE-2's, and the marked
// subsequence is as long as ROUGE-L's. Of a word that is more often in a text than it is shared,
// the places on the subsequence count, then those in pairs, then the first. Called by
// harness/score. Not thread-safe: it owns the vocabulary of its texts.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/result.h"
#include "metrics/chinese/zh_text.h"
#include "metrics/text/bit_lcs.h"
#include "metrics/text/vocabulary.h"

namespace qfs::metrics {

/// Bytes [begin, end) of a text, and what is common there.
struct MatchedToken {
  size_t begin = 0;
  size_t end = 0;
  bool word = false;  ///< a hit of ROUGE-1
  bool pair = false;  ///< with the token behind it, a hit of ROUGE-2
  bool line = false;  ///< on the longest common subsequence, the one that rouge_score reads out

  friend bool operator==(const MatchedToken&, const MatchedToken&) = default;
};

struct TokenMatches {
  std::vector<MatchedToken> candidate;
  std::vector<MatchedToken> reference;
};

class TokenMatcher {
 public:
  /// By the words of a score with this signature; null for a score that is counted neither over
  /// rouge_score's tokens nor over those of a segmenter that is here.
  static std::unique_ptr<TokenMatcher> of_signature(std::string_view signature);
  /// Over rouge_score's tokens; `stem`: as RougeOptions has it.
  explicit TokenMatcher(bool stem) : vocabulary_(stem) {}
  /// Over a segmenter's words.
  explicit TokenMatcher(std::unique_ptr<ZhTextEncoder> words)
      : vocabulary_(false), words_(std::move(words)) {}

  /// Valid UTF-8. `invalid_argument` for texts over kMaxLcsCells, as in scoring; a segmenter's
  /// errors.
  Result<TokenMatches> match(std::string_view candidate, std::string_view reference);

 private:
  struct Text {
    std::vector<TokenId> ids;
    std::vector<MatchedToken> tokens;
  };
  Result<Text> read(std::string_view text);
  Text read_tokens(std::string_view text);
  void mark_subsequence(const Text& candidate, const Text& reference, TokenMatches& matches);

  Vocabulary vocabulary_;
  std::unique_ptr<ZhTextEncoder> words_;  ///< null: rouge_score's tokens
  BitLcs lcs_;
};

}  // namespace qfs::metrics

// TextMatches: what a prediction and a reference have in common by the words of a stored score, as
// runs of marked text, for pages that show both.
//
// Called by the report pages of the command line. Tokens, stemming and counting are those of
// metrics/matches; the metric's signature says which. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "harness/api/result.h"

namespace qfs::metrics {
class TokenMatcher;
}

namespace qfs::score {

enum MatchBits : uint8_t {
  kMatchedWord = 1,  ///< a hit of ROUGE-1
  kMatchedPair = 2,  ///< inside a hit of ROUGE-2
  kMatchedLine = 4,  ///< on the longest common subsequence
};

/// The next `bytes` of a text and what they are; neighbours differ, and all runs are the text.
struct MatchRun {
  size_t bytes = 0;
  uint8_t bits = 0;

  friend bool operator==(const MatchRun&, const MatchRun&) = default;
};

struct MatchedTexts {
  std::vector<MatchRun> prediction;
  std::vector<MatchRun> reference;
};

class TextMatches {
 public:
  /// Null as TokenMatcher::of_signature is.
  static std::unique_ptr<TextMatches> of_signature(std::string_view signature);
  ~TextMatches();

  /// Valid UTF-8; the error is that of TokenMatcher::match.
  Result<MatchedTexts> match(std::string_view prediction, std::string_view reference);

 private:
  explicit TextMatches(std::unique_ptr<metrics::TokenMatcher> matcher);
  std::unique_ptr<metrics::TokenMatcher> matcher_;
};

}  // namespace qfs::score

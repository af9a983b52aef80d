// Truncation of documents: which bytes of an example's document fit a budget of tokens, with the
// ledger that is stored beside the prediction.
//
// Called by every method that reads at most `local_context` document tokens (extractive,
// zero_shot). Tokens are counted segment by segment over the rendered text ("speaker: text");
// separators between segments, the prompt and the query are outside the budget, and the query is
// never cut. Stateless and thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/example.h"
#include "harness/api/prediction.h"
#include "harness/api/result.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::prompting {

/// Which part of a document that is too long is kept.
enum class TruncationPolicy {
  head,    ///< its first tokens
  tail,    ///< its last tokens
  middle,  ///< its first and its last tokens, half of the budget each (the odd one goes to the
           ///< first)
};

/// Names for a method's `truncate` parameter, the default first.
std::vector<std::string> truncation_policy_names();

/// The policy with this name, one of truncation_policy_names().
std::optional<TruncationPolicy> truncation_policy_from(std::string_view name);

struct TruncatedDocument {
  Truncation ledger;
  std::vector<std::string> texts;  ///< texts[i] are the bytes of ledger.kept[i]

  /// The kept pieces joined by newlines: rendered_document() when nothing was cut.
  std::string joined() const;
};

/// Keeps at most `budget_tokens` document tokens; everything without a budget. A segment that does
/// not fit is cut at a token, and where that is inside a code point at the next whole one inwards,
/// so a kept text is valid UTF-8 and kept_tokens never exceeds the budget. Counting a kept text
/// again may give another number where the tokenizer merges across the cut. Errors:
/// `invalid_argument` for a budget below 1.
Result<TruncatedDocument> truncate_document(const Example& example,
                                            const tokenizers::Tokenizer& tokenizer,
                                            std::optional<int64_t> budget_tokens,
                                            TruncationPolicy policy);

/// Keeps of each segment its first tokens, the same number of all, of which as many segments as
/// there are have `budget_tokens` (PRIMERA's rule); everything without a budget.
/// `invalid_argument`: a budget with less than a token for each.
Result<TruncatedDocument> truncate_segments(const Example& example,
                                            const tokenizers::Tokenizer& tokenizer,
                                            std::optional<int64_t> budget_tokens);

}  // namespace qfs::prompting

// English word tokens as NLTK's word_tokenize gives them: sentence ends first, then Treebank rules.
//
// Used by text forms. The Treebank part (harness/core/text/treebank.h) follows the behaviour of
// NLTK's word tokenizers rule by rule; the sentence part is an approximation of Punkt for
// lower-cased text (its trained model is not bundled), whose measured agreement is in
// datasets/README.md. Thread-safe, linear time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/text/treebank.h"

namespace qfs::datasets {

/// The tokens of `text` joined by one blank.
std::string join_word_tokens(std::string_view text, TreebankRules rules);

/// The sentences of such tokens, tokenized once more by themselves and cut behind every
/// `most_tokens`; each piece joined by one blank, none empty.
std::vector<std::string> sentence_pieces(std::string_view joined_tokens, TreebankRules rules,
                                         size_t most_tokens);

}  // namespace qfs::datasets

// English word tokens as NLTK's word_tokenize gives them: sentence ends first, then Treebank rules.
//
// Used by text forms. The Treebank part (harness/core/text/treebank.h) follows the behaviour of
// NLTK 3.8.1's NLTKWordTokenizer rule by rule; the sentence part is an approximation of Punkt for
// lower-cased text (its trained model is not bundled), whose measured agreement is in
// datasets/README.md. Thread-safe, linear time.
#pragma once

#include <string>
#include <string_view>

namespace qfs::datasets {

/// The tokens of `text` joined by one blank.
std::string join_word_tokens(std::string_view text);

}  // namespace qfs::datasets

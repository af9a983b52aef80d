// English word tokens as NLTK's word_tokenize gives them: sentence ends first, then Treebank rules.
//
// Used by text forms. The Treebank part follows the behaviour of NLTK 3.8.1's NLTKWordTokenizer
// rule by rule; the sentence part is an approximation of Punkt for lower-cased text (its trained
// model is not bundled), whose measured agreement is in datasets/README.md. Thread-safe, linear
// time.
#pragma once

#include <string>
#include <string_view>

namespace qfs::datasets {

/// The tokens of `text` joined by one blank.
std::string join_word_tokens(std::string_view text);

/// Treebank tokens of one sentence, joined by one blank; no sentence splitting.
std::string join_treebank_tokens(std::u32string_view sentence);

}  // namespace qfs::datasets

// English word tokens by the Penn Treebank rules as NLTK's word_tokenize applies them to a
// sentence.
//
// Called by the text forms of data sets and by the oracle of DYLE, which bring their own rules for
// sentences. Thread-safe, linear time, cannot fail. Sources: the Treebank tokenizer's sed script
// and nltk/tokenize/destructive.py of the two versions.
#pragma once

#include <string>
#include <string_view>

namespace qfs {

enum class TreebankRules {
  nltk_3_6_2,  ///< '' is split off what precedes it only; 'n is no clitic
  nltk_3_8_1,
};

/// The tokens of one sentence, joined by one blank.
std::string join_treebank_tokens(std::u32string_view sentence, TreebankRules rules);

}  // namespace qfs

// Word tokens as DYLE's preprocessing makes them: lower-cased, cut into sentences, then split by
// the rules of NLTK 3.6.2's word_tokenize (the Penn Treebank sed script with NLTK's additions).
//
// Called by oracle_dyle. NLTK finds sentences with a trained model (Punkt); only the full stop at a
// sentence's end depends on them, and here every word-final full stop ends a sentence unless it
// belongs to an abbreviation (abbreviations.h). Works on whole code points; stateless and
// thread-safe; cannot fail on well-formed UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qfs::greedy_oracle {

/// The tokens of each sentence of a text, none of them empty.
std::vector<std::vector<std::string>> treebank_sentences(std::string_view text);

/// The tokens of a text, lower-cased with Unicode's full mapping.
std::vector<std::string> treebank_tokens(std::string_view text);

}  // namespace qfs::greedy_oracle

// Words that a full stop may follow without ending a sentence. Called by the sentence splitter and
// by the tokenizer of the DYLE oracle. Thread-safe, cannot fail.
#pragma once

#include <string_view>

namespace qfs::greedy_oracle {

/// True for a lower-case word (its final full stop removed) that is an English abbreviation, a
/// single letter other than "i" and "a" (an initial), or letters with full stops between them
/// ("e.g", "p.m").
bool is_abbreviation(std::string_view lower_case_word);

}  // namespace qfs::greedy_oracle

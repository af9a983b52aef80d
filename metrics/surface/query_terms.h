// Content terms: the words of a query that say what is asked, in the form in which they are looked
// for in a prediction.
//
// Called by QueryCoverage. A word's form: lower case, ’ as ', a final 's cut off, then with `stem`
// its Porter stem (NLTK's, as rouge_score uses it) if it is longer than three characters and of
// [a-z0-9]. Function words (a closed list of English articles, pronouns, prepositions,
// conjunctions, auxiliaries and question words, and of Chinese particles and question words) are no
// content terms, unless the query has nothing else. Pure; thread-safe.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace qfs::metrics {

bool is_function_word(std::string_view lower_case_word);

/// `words`: lower-cased words of the query, without punctuation. Distinct forms, in byte order.
std::set<std::string> content_terms(const std::vector<std::string_view>& words, bool stem);

/// The form of one lower-cased word.
std::string term_form(std::string_view word, bool stem);

}  // namespace qfs::metrics

// The Porter stemmer as NLTK extends it (PorterStemmer's default mode), which rouge_score 0.1.2
// uses.
//
// Called by vocabulary.h once per distinct word. Sources: M. F. Porter, "An algorithm for suffix
// stripping", Program 14(3), 1980, for the steps; NLTK 3.10 nltk.stem.porter for the deviations,
// each named where it is made. Stateless, thread-safe, cannot fail.
#pragma once

#include <string>
#include <string_view>

namespace qfs::metrics {

/// The stem of a word of [a-z0-9]. Words of one or two letters are returned unchanged; digits count
/// as consonants. rouge_score stems only words longer than three characters; that is the caller's
/// rule.
std::string porter_nltk_stem(std::string_view word);

}  // namespace qfs::metrics

// The stemmer of ROUGE-1.5.5: Porter's of 1980 with one change by C.-Y. Lin ("CYL", 2004-02-14).
//
// Called once for every distinct word longer than three letters that the exception list does not
// hold. The change: in step 4, what is left after one suffix is tried again for "-ment", then for
// "-ent" or "-sion"/"-tion", so that a word may lose two suffixes (commissioner, commiss). Unlike
// metrics/text/porter_stemmer.h it has none of NLTK's additions. Digits count as consonants. Pure;
// thread-safe; cannot fail. Sources: Porter, "An algorithm for suffix stripping", 1980; behaviour
// of ROUGE-1.5.5.
#pragma once

#include <string>
#include <string_view>

namespace qfs::metrics::rouge155 {

/// `word` is of [a-z0-9]; words of one or two letters stay.
std::string cyl_stem(std::string_view word);

}  // namespace qfs::metrics::rouge155

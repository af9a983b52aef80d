// Sentences of a summary as ROUGE-1.5.5 reads them, and its length limits.
//
// Views into a text that outlives them. Limits apply to the raw text, before any cleaning, to
// candidates and references alike. Bytes are bytes; no encoding is assumed, nothing can fail.
#pragma once

#include <string_view>
#include <vector>

#include "metrics/rouge155/options.h"

namespace qfs::metrics::rouge155 {

using Sentences = std::vector<std::string_view>;

/// Perl's \s on bytes: space, \t, \n, \v, \f and \r.
constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// SPL: one sentence a line. Lines end at '\n' and nowhere else; empty lines are no sentences.
Sentences split_lines(std::string_view text);

/// What the scores of n-grams and skip-grams see. A word of -l is what splitting at blanks gives: a
/// leading blank makes an empty first word, which counts.
Sentences limited(Sentences sentences, const Limit& limit);

/// What ROUGE-L and -W see. Upstream never adds up the bytes here: with -b the limit holds for each
/// sentence by itself, and the first one that reaches it is cut and ends the text.
Sentences limited_for_lcs(Sentences sentences, const Limit& limit);

}  // namespace qfs::metrics::rouge155

// What DYLE's release scores of a text: its words, one sentence a line.
//
// Called by RougeMetric155 with `sentences=dyle`, for predictions and references alike. The release
// (Yale-LILY/DYLE 05ea3cc, Experiment.py, NLTK 3.6.2) takes word_tokenize of the text, joins the
// words by blanks, finds sentences in that with sent_tokenize, joins them by line breaks and strips
// the result; so text that is already cut into such lines is made one again. Pure; thread-safe; any
// bytes (an ill-formed one becomes U+FFFD); cannot fail.
#pragma once

#include <string>
#include <string_view>

#include "metrics/punkt/punkt_splitter.h"

namespace qfs::metrics::rouge155 {

std::string dyle_lines(std::string_view text, const PunktSplitter& punkt);

}  // namespace qfs::metrics::rouge155

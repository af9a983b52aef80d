// Whether a few words with a period between them hold the end of a sentence: the token-based stage
// of Punkt (Kiss & Strunk 2006, section 4, as NLTK's PunktSentenceTokenizer has it).
//
// Called by PunktSplitter for every possible end. Pure; thread-safe; cannot fail.
#pragma once

#include <string_view>

#include "metrics/punkt/punkt_model.h"
#include "metrics/punkt/punkt_words.h"

namespace qfs::metrics {

/// Whether a word of `context` other than the last ends a sentence.
bool punkt_ends_sentence(std::string_view context, const PunktModel& model, PunktRules rules);

}  // namespace qfs::metrics

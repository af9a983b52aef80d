// Sentences of a text: where extractive methods cut a turn or paragraph into what they select from.
//
// Deterministic rules, no model. A sentence ends at a line break; at 。！？; and at a run of . ! ?
// … with any closing quotes or brackets after it, when white space or the end follows and
//  - the mark stands alone ("okay ." in transcripts that are split into tokens), or
//  - the next word does not begin with a lower-case letter, and a single full stop does not belong
//  to an
//    abbreviation (abbreviations.h).
// In Chinese it ends after 。！？； with closing marks behind them, and at a line break, as
// rouge-zh splits (harness/core/text/chinese_text.h). Pieces without a letter or digit are dropped.
// Stateless, thread-safe, cannot fail.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "methods/models/retrieval/script.h"

namespace qfs::retrieval {

/// Bytes [begin, end) of a text.
struct TextSpan {
  size_t begin = 0;
  size_t end = 0;

  friend bool operator==(const TextSpan&, const TextSpan&) = default;
};

/// Sentences in order, without white space around them.
std::vector<TextSpan> split_sentences(std::string_view text, Script script);

}  // namespace qfs::retrieval

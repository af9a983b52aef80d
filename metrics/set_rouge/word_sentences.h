// WordSentences: a text as the set-based packages see it, sentences of white-space separated words.
//
// Called by pltrdy_rouge and rouge_chinese, whose rules of splitting differ. Words keep their case
// and punctuation. Not thread-safe (one table of ids); cannot fail.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "metrics/text/intern_table.h"

namespace qfs::metrics {

using WordId = uint32_t;

struct WordSentences {
  std::vector<std::vector<WordId>> sentences;

  bool empty() const { return sentences.empty(); }
  size_t words() const;
  /// All words in order; n-grams cross sentences in both packages.
  std::vector<WordId> flat() const;
};

/// Adds `piece` as a sentence unless it has no byte. A piece of white space alone becomes the
/// sentence of one empty word: Python's " ".join(piece.split()).split(" ") gives [""].
void add_sentence(std::string_view piece, InternTable& table, WordSentences& text);

/// Splits at every '.', which rouge 1.0.1 takes for the end of a sentence.
WordSentences split_at_periods(std::string_view text, InternTable& table);

/// Splits where rouge-chinese 1.0.3 does (Rouge.cut_sent): after 。！？?, six periods or two
/// ellipses unless a closing quote follows, behind that quote, and at '\n'; the text's trailing
/// white space is dropped first.
WordSentences split_as_rouge_chinese(std::string_view text, InternTable& table);

}  // namespace qfs::metrics

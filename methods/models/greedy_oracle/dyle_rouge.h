// DyleRouge: the objective of DYLE's greedy oracle, (F of ROUGE-1 + ROUGE-2 + ROUGE-L) / 3 as the
// Python package `rouge` computed them in the state that DYLE used (between its releases 1.0.0
// and 1.0.1).
//
// It is a mixture: unigrams and bigrams are clipped multisets over one stream that runs across
// sentences; ROUGE-L is over *sets* of words. Sentences end at every '.' character. Kept as it is,
// because DYLE's oracle lists depend on it; for evaluation use metrics/rouge. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "metrics/rouge/ngram_overlap.h"
#include "metrics/text/bit_lcs.h"
#include "metrics/text/intern_table.h"

namespace qfs::greedy_oracle {

/// A text cut at every '.'.
struct DottedText {
  struct Piece {
    std::vector<uint32_t> words;
    bool has_bytes = false;  ///< a piece of no bytes is dropped, one of blanks is the empty word
  };
  std::vector<Piece> pieces;
};

/// Cuts a text of blank-separated words; words are interned in `words`.
DottedText cut_at_dots(std::string_view text, metrics::InternTable& words);

class DyleRouge {
 public:
  /// `words` is the table of all texts and outlives the scorer.
  explicit DyleRouge(metrics::InternTable& words) : empty_word_{words.id("")} {}

  void set_reference(const DottedText& reference);

  /// The objective for a candidate of these texts joined by blanks; std::nullopt where the package
  /// raises an error (a side without sentences).
  std::optional<double> score(std::span<const DottedText* const> candidate);

 private:
  using Sentence = std::vector<uint32_t>;
  struct SentenceHash {
    size_t operator()(const Sentence& sentence) const;
  };
  /// Bit i: the reference's i-th distinct word.
  using WordSet = std::vector<uint64_t>;

  template <class Visit>
  void for_each_sentence(std::span<const DottedText* const> texts, Visit&& visit);
  metrics::LocalId local(uint32_t word) const {
    return word < local_of_.size() && local_of_[word] != 0 ? local_of_[word] - 1 : types_;
  }
  const WordSet& common_words(const Sentence& sentence);
  int64_t count_distinct(std::span<const uint32_t> words);

  Sentence empty_word_;  ///< the sentence that a piece of blanks becomes
  Sentence joint_;       ///< scratch: a piece that runs over from one text into the next
  std::vector<std::vector<metrics::LocalId>> reference_;
  int64_t reference_words_ = 0;
  metrics::LocalId types_ = 0;              ///< distinct words of the reference
  std::vector<metrics::LocalId> local_of_;  ///< word -> local id + 1
  metrics::NgramOverlap overlap_;
  metrics::BitLcs lcs_;
  std::unordered_map<Sentence, WordSet, SentenceHash> common_;  ///< sentences repeat in the search
  WordSet united_;
  std::vector<uint32_t> stream_;
  std::vector<metrics::LocalId> local_stream_;
  std::vector<uint32_t> seen_;  ///< word -> the last count_distinct that saw it
  uint32_t round_ = 0;
};

}  // namespace qfs::greedy_oracle

// chrF and chrF++ as sacreBLEU 2.6 computes them: counts of a segment, and the score of summed
// counts.
//
// Called by ChrfMetric. Sources: Popović 2015 and 2017; the package sacrebleu 2.6.0 for what they
// leave open: precision and recall are averaged over the orders that both texts have, then combined
// (or, with `epsilon`, F scores over all orders, as chrF++.py, NLTK and Moses do); an order that
// the reference lacks counts no candidate n-gram; of several references the one with the best score
// gives the counts, first one on ties. Scores lie in 0..100. Pure; cannot fail.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "metrics/text/gram_matcher.h"
#include "metrics/text/intern_table.h"

namespace qfs::metrics {

inline constexpr size_t kLongestChrfOrder = 6;

struct ChrfOptions {
  size_t character_order = 6;
  size_t word_order = 0;  ///< 2: chrF++
  int64_t beta = 2;
  bool lower_case = false;
  bool white_space = false;  ///< whether it is part of character n-grams
  bool epsilon = false;

  size_t orders() const { return character_order + word_order; }
};

/// A text as chrF reads it.
struct ChrfText {
  std::vector<uint32_t> characters;  ///< code points
  std::vector<uint32_t> words;       ///< numbers; only where word n-grams count
};

/// `text` is well-formed; `words` numbers words and is shared by the texts that are compared.
ChrfText chrf_text(std::string_view text, const ChrfOptions& options, InternTable& words);

/// Three numbers an order, characters of order 1, 2, …, then words: n-grams of the candidate, of
/// the reference, in both. `references` is not empty; `matcher` keeps its tables between calls.
std::vector<double> chrf_counts(const ChrfText& candidate, std::span<const ChrfText> references,
                                const ChrfOptions& options, GramMatcher& matcher);

double chrf_score(std::span<const double> counts, const ChrfOptions& options);

}  // namespace qfs::metrics

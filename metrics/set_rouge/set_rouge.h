// SetRouge: the scores of the packages rouge 1.0.1 (pltrdy) and rouge-chinese 1.0.3.
//
// Called by SetRougeMetric and LongBenchMetric. Both count *distinct* n-grams in place of n-grams
// (their default exclusive=True), compare words as they are written, and add 1e-8 to F's
// denominator; so a text against itself has an F just below 1. They differ in sentences and in
// ROUGE-L: pltrdy divides the distinct words on any longest common subsequence of a reference and a
// candidate sentence by the distinct words of each side; rouge-chinese takes one longest common
// subsequence of the whole texts, all words counted. Not thread-safe; an empty text is an error.
#pragma once

#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "metrics/rouge/prf.h"
#include "metrics/set_rouge/word_sentences.h"
#include "metrics/text/bit_lcs.h"
#include "metrics/text/intern_table.h"

namespace qfs::metrics {

enum class SetRougePackage { pltrdy_1_0_1, rouge_chinese_1_0_3 };

struct SetRougeScores {
  Prf rouge1;
  Prf rouge2;
  Prf rougeL;
};

class SetRouge {
 public:
  explicit SetRouge(SetRougePackage package) : package_(package) {}

  WordSentences encode(std::string_view text);

  /// Neither text is empty(): the packages raise for such texts, and callers have a policy.
  /// check_lcs_size holds.
  SetRougeScores score(const WordSentences& candidate, const WordSentences& reference);

 private:
  Prf sentence_union(const WordSentences& candidate, const WordSentences& reference);
  Prf whole_lcs(const std::vector<WordId>& candidate, const std::vector<WordId>& reference);

  SetRougePackage package_;
  InternTable table_;
  BitLcs lcs_;
};

}  // namespace qfs::metrics

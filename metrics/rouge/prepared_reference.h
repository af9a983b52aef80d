// PreparedReference: one reference indexed so that any number of candidates can be scored with it.
//
// Called by RougeScorer and by the extractive oracle, whose search scores thousands of candidates.
// All texts come from the same Vocabulary. Reuse one instance for many references: its buffers
// stay. Not thread-safe; cannot fail.
#pragma once

#include <span>
#include <vector>

#include "metrics/rouge/ngram_overlap.h"
#include "metrics/rouge/prf.h"
#include "metrics/rouge/union_marks.h"
#include "metrics/text/bit_lcs.h"
#include "metrics/text/vocabulary.h"

namespace qfs::metrics {

/// The four variants, named as rouge_score names them.
struct RougeScores {
  Prf rouge1;
  Prf rouge2;
  Prf rougeL;
  Prf rougeLsum;

  friend bool operator==(const RougeScores&, const RougeScores&) = default;
};

class PreparedReference {
 public:
  void assign(const EncodedText& reference);

  Prf rouge1(std::span<const TokenId> candidate);
  Prf rouge2(std::span<const TokenId> candidate);
  RougeScores score(const EncodedText& candidate);

 private:
  std::span<const LocalId> to_local(std::span<const TokenId> candidate);
  Prf unigram_score(std::span<const LocalId> candidate);
  Prf bigram_score(std::span<const LocalId> candidate);
  Prf sentence_lcs(std::span<const LocalId> candidate);
  Prf summary_lcs(const EncodedText& candidate, std::span<const LocalId> local);

  /// `marks_` of a sentence longer than UnionMarks takes.
  void mark_long(std::span<const LocalId> sentence, const EncodedText& candidate,
                 std::span<const LocalId> local);

  EncodedText reference_;
  LocalId types_ = 0;               ///< distinct tokens of the reference
  std::vector<LocalId> local_;      ///< the reference in local ids
  std::vector<LocalId> local_of_;   ///< by token id; above all of them where the reference lacks it
  std::vector<LocalId> candidate_;  ///< scratch
  std::vector<LocalId> shared_;     ///< scratch: those of them that the reference has
  std::vector<uint32_t> remaining_;  ///< scratch: candidate tokens not yet matched, per local id
  std::vector<uint64_t> marks_;      ///< scratch
  NgramOverlap overlap_;
  BitLcs lcs_;
  UnionMarks short_marks_;
};

}  // namespace qfs::metrics

#include "metrics/set_rouge/set_rouge.h"

#include <algorithm>
#include <bit>

namespace qfs::metrics {
namespace {

/// f_r_p_rouge_n of both packages: the order of the operations is theirs.
Prf epsilon_prf(size_t overlap, size_t candidate, size_t reference) {
  const auto ratio = [overlap](size_t count) {
    return count == 0 ? 0.0 : static_cast<double>(overlap) / static_cast<double>(count);
  };
  Prf prf;
  prf.precision = ratio(candidate);
  prf.recall = ratio(reference);
  prf.f = 2.0 * ((prf.precision * prf.recall) / (prf.precision + prf.recall + 1e-8));
  return prf;
}

/// Distinct n-grams, n = 1 or 2, packed and sorted.
std::vector<uint64_t> distinct_ngrams(const std::vector<WordId>& words, size_t n) {
  std::vector<uint64_t> ngrams;
  for (size_t i = 0; i + n <= words.size(); ++i) {
    ngrams.push_back(n == 1 ? words[i] : uint64_t{words[i]} << 32U | words[i + 1]);
  }
  std::ranges::sort(ngrams);
  ngrams.erase(std::unique(ngrams.begin(), ngrams.end()), ngrams.end());
  return ngrams;
}

Prf set_overlap(const std::vector<WordId>& candidate, const std::vector<WordId>& reference,
                size_t n) {
  const std::vector<uint64_t> ours = distinct_ngrams(candidate, n);
  const std::vector<uint64_t> theirs = distinct_ngrams(reference, n);
  std::vector<uint64_t> common;
  std::ranges::set_intersection(ours, theirs, std::back_inserter(common));
  return epsilon_prf(common.size(), ours.size(), theirs.size());
}

}  // namespace

WordSentences SetRouge::encode(std::string_view text) {
  return package_ == SetRougePackage::pltrdy_1_0_1 ? split_at_periods(text, table_)
                                                   : split_as_rouge_chinese(text, table_);
}

SetRougeScores SetRouge::score(const WordSentences& candidate, const WordSentences& reference) {
  const std::vector<WordId> ours = candidate.flat();
  const std::vector<WordId> theirs = reference.flat();
  SetRougeScores scores;
  scores.rouge1 = set_overlap(ours, theirs, 1);
  scores.rouge2 = set_overlap(ours, theirs, 2);
  scores.rougeL = package_ == SetRougePackage::pltrdy_1_0_1 ? sentence_union(candidate, reference)
                                                            : whole_lcs(ours, theirs);
  return scores;
}

Prf SetRouge::sentence_union(const WordSentences& candidate, const WordSentences& reference) {
  const auto types = static_cast<LocalId>(table_.size());
  std::vector<WordId> on_lcs;
  std::vector<uint64_t> marks;
  for (const std::vector<WordId>& ours : candidate.sentences) {
    // BitLcs walks back as rouge_score does, up on ties; pltrdy's walk goes left on ties. With the
    // candidate's words as rows the one is the other.
    lcs_.set_reference(ours, types);
    marks.assign(lcs_.words(), 0);
    for (const std::vector<WordId>& theirs : reference.sentences) lcs_.mark(theirs, marks);
    for (size_t word = 0; word < marks.size(); ++word) {
      for (uint64_t bits = marks[word]; bits != 0; bits &= bits - 1) {
        on_lcs.push_back(ours[word * 64 + static_cast<size_t>(std::countr_zero(bits))]);
      }
    }
  }
  return epsilon_prf(distinct_ngrams(on_lcs, 1).size(), distinct_ngrams(candidate.flat(), 1).size(),
                     distinct_ngrams(reference.flat(), 1).size());
}

Prf SetRouge::whole_lcs(const std::vector<WordId>& candidate,
                        const std::vector<WordId>& reference) {
  lcs_.set_reference(reference, static_cast<LocalId>(table_.size()));
  return epsilon_prf(static_cast<size_t>(lcs_.length(candidate)), candidate.size(),
                     reference.size());
}

}  // namespace qfs::metrics

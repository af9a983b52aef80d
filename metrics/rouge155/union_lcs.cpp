#include "metrics/rouge155/union_lcs.h"

#include <bit>

namespace qfs::metrics::rouge155 {

void UnionLcs::start_clipping(const LocalText& reference, const LocalText& candidate,
                              LocalId types) {
  reference_left_.assign(size_t{types} + 1, 0);
  candidate_left_.assign(size_t{types} + 1, 0);
  for (LocalId token : reference.tokens) ++reference_left_[token];
  for (LocalId token : candidate.tokens) ++candidate_left_[token];
}

bool UnionLcs::take(LocalId token) {
  if (reference_left_[token] == 0 || candidate_left_[token] == 0) return false;
  --reference_left_[token];
  --candidate_left_[token];
  return true;
}

int64_t UnionLcs::hits(const LocalText& reference, const LocalText& candidate, LocalId types) {
  start_clipping(reference, candidate, types);
  int64_t hits = 0;
  for (size_t r = 0; r < reference.sentence_ends.size(); ++r) {
    const std::span<const LocalId> sentence = reference.sentence(r);
    if (sentence.empty()) continue;
    lcs_.set_reference(sentence, types);
    bits_.assign(lcs_.words(), 0);
    for (size_t c = 0; c < candidate.sentence_ends.size(); ++c) {
      lcs_.mark(candidate.sentence(c), bits_);
    }
    for (size_t word = 0; word < bits_.size(); ++word) {
      for (uint64_t bits = bits_[word]; bits != 0; bits &= bits - 1) {
        const size_t row = word * 64 + static_cast<size_t>(std::countr_zero(bits));
        hits += take(sentence[row]) ? 1 : 0;
      }
    }
  }
  return hits;
}

WeightedHits UnionLcs::weighted_hits(WeightedLcs& lcs, const LocalText& reference,
                                     const LocalText& candidate, LocalId types) {
  start_clipping(reference, candidate, types);
  WeightedHits total;
  for (size_t r = 0; r < reference.sentence_ends.size(); ++r) {
    const std::span<const LocalId> sentence = reference.sentence(r);
    total.base += lcs.weight(sentence.size());
    marks_.assign(sentence.size() + 1, 0);  // one more, never marked: the end of the sentence
    for (size_t c = 0; c < candidate.sentence_ends.size(); ++c) {
      lcs.mark(sentence, candidate.sentence(c), marks_);
    }
    size_t run = 0;
    for (size_t i = 0; i < sentence.size(); ++i) {
      if (marks_[i] == 0 || !take(sentence[i])) continue;
      ++run;
      if (marks_[i + 1] != 0) continue;
      total.hits += lcs.weight(run);
      run = 0;
    }
  }
  return total;
}

}  // namespace qfs::metrics::rouge155

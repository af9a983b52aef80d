// UnionLcs: ROUGE-L and ROUGE-W between two texts of several sentences.
//
// Called by Scorer. For each reference sentence the tokens on its longest common subsequence with
// any candidate sentence are marked once; a marked token is a hit while both texts have an
// occurrence of it left. Not thread-safe; lengths are checked by the caller.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "metrics/rouge155/weighted_lcs.h"
#include "metrics/text/bit_lcs.h"
#include "metrics/text/local_id.h"

namespace qfs::metrics::rouge155 {

/// One text of a pair in local ids; views into buffers of the caller.
struct LocalText {
  std::span<const LocalId> sentences;     ///< tokens of all sentences
  std::span<const size_t> sentence_ends;  ///< index after the last token of each
  std::span<const LocalId> tokens;        ///< what clips: the text under its length limit

  std::span<const LocalId> sentence(size_t index) const {
    const size_t begin = index == 0 ? 0 : sentence_ends[index - 1];
    return sentences.subspan(begin, sentence_ends[index] - begin);
  }
};

struct WeightedHits {
  double hits = 0;
  double base = 0;  ///< sum of the weights of the reference's sentences
};

class UnionLcs {
 public:
  int64_t hits(const LocalText& reference, const LocalText& candidate, LocalId types);

  /// ROUGE-W: runs of hits count with their weight. A run ends where the next token is not marked;
  /// as upstream, one whose last token is clipped goes on in the next run.
  WeightedHits weighted_hits(WeightedLcs& lcs, const LocalText& reference,
                             const LocalText& candidate, LocalId types);

 private:
  void start_clipping(const LocalText& reference, const LocalText& candidate, LocalId types);
  bool take(LocalId token);

  BitLcs lcs_;
  std::vector<uint64_t> bits_;
  std::vector<char> marks_;
  std::vector<uint32_t> reference_left_;  ///< per local id: occurrences not yet counted
  std::vector<uint32_t> candidate_left_;
};

}  // namespace qfs::metrics::rouge155

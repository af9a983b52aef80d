// NgramOverlap: clipped unigram and bigram matches of candidates with one reference.
//
// Called by PreparedReference. Tokens are *local* ids: the reference's distinct tokens numbered
// from 0, and `types` for every token that the reference does not have. A bigram is packed into one
// 64-bit key and looked up in a small open-addressed table (packing as in rouge-score-rs). Not
// thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "metrics/text/local_id.h"

namespace qfs::metrics {

class NgramOverlap {
 public:
  /// `reference`: local ids, all below `types`.
  void set_reference(std::span<const LocalId> reference, LocalId types);

  /// Sum over distinct unigrams of min(count in reference, count in candidate).
  int64_t unigrams(std::span<const LocalId> candidate);
  /// The same over bigrams.
  int64_t bigrams(std::span<const LocalId> candidate);

 private:
  struct Slot {
    uint64_t key = 0;  ///< 1 + first * types + second; 0 is free
    uint32_t count = 0;
    uint32_t used = 0;  ///< matches taken by the candidate at hand
  };
  uint64_t key(LocalId first, LocalId second) const {
    return 1 + uint64_t{first} * types_ + second;
  }
  /// The slot with this key, or the free one where it belongs.
  Slot& slot_of(uint64_t key);

  LocalId types_ = 0;
  std::vector<uint32_t> counts_;
  std::vector<uint32_t> left_;
  std::vector<Slot> slots_;
  std::vector<Slot*> touched_;
};

}  // namespace qfs::metrics

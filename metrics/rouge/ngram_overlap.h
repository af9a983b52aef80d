// NgramOverlap: clipped unigram and bigram matches of candidates with one reference.
//
// Called by PreparedReference. Tokens are *local* ids: the reference's distinct tokens numbered
// from 0, and `types` for every token that the reference does not have. Bigrams of a reference of
// few distinct tokens, which nearly all are, are counted in a square table without a hash or a
// branch; those of others are packed into 64-bit keys (as in rouge-score-rs) of a hash table. Not
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
  /// A square of 16-bit counts below 128 KiB; no count of a reference of this length overflows.
  static constexpr LocalId kSquareTypes = 255;
  static constexpr size_t kSquareTokens = 65535;

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
  size_t cell(LocalId first, LocalId second) const {
    return size_t{first} * (size_t{types_} + 1) + second;
  }
  int64_t square_bigrams(std::span<const LocalId> candidate);
  int64_t hashed_bigrams(std::span<const LocalId> candidate);

  LocalId types_ = 0;
  std::vector<uint32_t> counts_;
  std::vector<uint32_t> left_;
  bool square_ = true;
  std::vector<uint16_t> cells_;       ///< all 0 but for the reference's bigrams
  std::vector<size_t> filled_cells_;  ///< of the reference, one a bigram
  std::vector<size_t> taken_cells_;   ///< matches of the candidate at hand
  std::vector<Slot> slots_;
  std::vector<Slot*> touched_;
};

}  // namespace qfs::metrics

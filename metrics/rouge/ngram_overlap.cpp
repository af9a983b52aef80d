#include "metrics/rouge/ngram_overlap.h"

#include <algorithm>
#include <bit>

namespace qfs::metrics {

void NgramOverlap::set_reference(std::span<const LocalId> reference, LocalId types) {
  types_ = types;
  counts_.assign(size_t{types} + 1, 0);
  for (LocalId token : reference) ++counts_[token];
  for (size_t filled : filled_cells_) cells_[filled] = 0;
  filled_cells_.clear();
  square_ = types <= kSquareTypes && reference.size() <= kSquareTokens;
  if (square_) {
    cells_.resize(std::max(cells_.size(), cell(types, types) + 1), 0);
    filled_cells_.resize(reference.empty() ? 0 : reference.size() - 1);
    for (size_t i = 0; i < filled_cells_.size(); ++i) {
      filled_cells_[i] = cell(reference[i], reference[i + 1]);
      ++cells_[filled_cells_[i]];
    }
    return;
  }
  slots_.assign(std::bit_ceil(2 * reference.size() + 2), Slot{});
  for (size_t i = 1; i < reference.size(); ++i) {
    const uint64_t bigram = key(reference[i - 1], reference[i]);
    Slot& slot = slot_of(bigram);
    slot.key = bigram;
    ++slot.count;
  }
}

NgramOverlap::Slot& NgramOverlap::slot_of(uint64_t key) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // Fibonacci hashing, Knuth vol. 3, 6.4
  const size_t mask = slots_.size() - 1;
  size_t index = (key * kOdd) >> 32U & mask;
  while (slots_[index].key != key && slots_[index].key != 0) index = (index + 1) & mask;
  return slots_[index];
}

int64_t NgramOverlap::unigrams(std::span<const LocalId> candidate) {
  left_ = counts_;
  int64_t hits = 0;
  for (LocalId token : candidate) {
    const uint32_t hit = left_[token] != 0;
    left_[token] -= hit;
    hits += hit;
  }
  return hits;
}

int64_t NgramOverlap::bigrams(std::span<const LocalId> candidate) {
  return square_ ? square_bigrams(candidate) : hashed_bigrams(candidate);
}

int64_t NgramOverlap::square_bigrams(std::span<const LocalId> candidate) {
  taken_cells_.resize(candidate.size());
  size_t taken = 0;
  for (size_t i = 1; i < candidate.size(); ++i) {
    const size_t at = cell(candidate[i - 1], candidate[i]);
    const uint16_t hit = cells_[at] != 0;
    cells_[at] = static_cast<uint16_t>(cells_[at] - hit);
    taken_cells_[taken] = at;
    taken += hit;
  }
  for (size_t i = 0; i < taken; ++i) ++cells_[taken_cells_[i]];
  return static_cast<int64_t>(taken);
}

int64_t NgramOverlap::hashed_bigrams(std::span<const LocalId> candidate) {
  touched_.clear();
  for (size_t i = 1; i < candidate.size(); ++i) {
    if (candidate[i - 1] == types_ || candidate[i] == types_) continue;
    Slot& slot = slot_of(key(candidate[i - 1], candidate[i]));
    if (slot.used == slot.count) continue;  // also a free slot: 0 == 0
    ++slot.used;
    touched_.push_back(&slot);
  }
  for (Slot* slot : touched_) slot->used = 0;
  return static_cast<int64_t>(touched_.size());
}

}  // namespace qfs::metrics

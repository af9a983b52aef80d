// GramTable: 64-bit keys to dense ids 0, 1, 2 …, in open addressing.
//
// Called by the n-gram and skip-gram matchers, which clear it for every pair of texts: clearing
// costs as much as the text is long, memory stays. Not thread-safe; cannot fail.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace qfs::metrics::rouge155 {

class GramTable {
 public:
  static constexpr uint32_t kAbsent = ~uint32_t{0};

  void clear(size_t expected) {
    slots_.assign(std::bit_ceil(2 * expected + 2), Slot{});
    size_ = 0;
  }

  /// The id of `key`; a new one, equal to the old size(), when it is not there.
  uint32_t insert(uint64_t key) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slot_of(key);
    if (slot.id_plus_1 == 0) slot = {key, static_cast<uint32_t>(++size_)};
    return slot.id_plus_1 - 1;
  }

  /// The id of `key`, or kAbsent.
  uint32_t find(uint64_t key) { return slot_of(key).id_plus_1 - 1; }

  size_t size() const { return size_; }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t id_plus_1 = 0;  ///< 0: free
  };

  Slot& slot_of(uint64_t key) {
    constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // Fibonacci hashing, Knuth vol. 3, 6.4
    const size_t mask = slots_.size() - 1;
    size_t index = (key * kOdd) >> 32U & mask;
    while (slots_[index].id_plus_1 != 0 && slots_[index].key != key) index = (index + 1) & mask;
    return slots_[index];
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id_plus_1 != 0) slot_of(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(2);
  size_t size_ = 0;
};

}  // namespace qfs::metrics::rouge155

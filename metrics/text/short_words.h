// ShortWords: words of at most eight bytes to numbers, each word kept as one integer.
//
// Called by Vocabulary: nine tokens of ten are that short, and then finding one is a multiplication
// and one comparison, without a string. Open addressing with linear probing and Fibonacci hashing
// (Knuth vol. 3, 6.4). Not thread-safe; cannot fail.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace qfs::metrics {

class ShortWords {
 public:
  static constexpr size_t kLongest = 8;

  ShortWords() : slots_(kFirstSlots) {}

  /// The bytes of a word of 1 to 8 bytes without NUL; the rest is 0, so that no two words are
  /// equal.
  static uint64_t key(std::string_view word);

  /// The number of the word with this key; `make()` gives it when the word is new, and may not
  /// touch this table.
  template <class Make>
  uint32_t number(uint64_t key, Make&& make) {
    for (size_t index = home(key);; index = (index + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[index];
      if (slot.key == key) return slot.number;
      if (slot.key == 0) return insert(index, key, make());
    }
  }

 private:
  static constexpr int kFirstBits = 10;
  static constexpr size_t kFirstSlots = size_t{1} << kFirstBits;

  struct Slot {
    uint64_t key = 0;  ///< 0 is free
    uint32_t number = 0;
  };
  size_t home(uint64_t key) const { return (key * 0x9E3779B97F4A7C15) >> shift_; }
  uint32_t insert(size_t index, uint64_t key, uint32_t number);

  std::vector<Slot> slots_;  // a power of two, at most half full
  size_t used_ = 0;
  int shift_ = 64 - kFirstBits;
};

}  // namespace qfs::metrics

// ByteTrie: texts that begin at a place, found by their bytes.
//
// Used by the Unigram model and by added tokens. Immutable after filling; thread-safe. Edges lie in
// one hash table, so that a vocabulary of 250,000 pieces needs about 40 MiB.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

namespace qfs::tokenizers {

class ByteTrie {
 public:
  ByteTrie() : values_(1, -1), slots_(16) {}

  /// A later equal key takes the place of the earlier one. `value` is not negative.
  void insert(std::string_view key, int32_t value) {
    int32_t node = 0;
    for (const char c : key) {
      int32_t next = child(node, c);
      if (next < 0) {
        next = static_cast<int32_t>(values_.size());
        values_.push_back(-1);
        if (2 * values_.size() > slots_.size()) grow();
        slots_[slot_of(node, c)] = {key_of(node, c), next};
        if (node == 0) first_[static_cast<uint8_t>(c)] = true;
      }
      node = next;
    }
    values_[static_cast<size_t>(node)] = value;
  }

  /// Whether some key begins with this byte.
  bool begins(char c) const { return first_[static_cast<uint8_t>(c)]; }

  /// Calls visit(length, value) for every key that `text` begins with, shortest first.
  template <class Visit>
  void prefixes(std::string_view text, Visit visit) const {
    int32_t node = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      node = child(node, text[i]);
      if (node < 0) return;
      if (values_[static_cast<size_t>(node)] >= 0) {
        visit(i + 1, values_[static_cast<size_t>(node)]);
      }
    }
  }

 private:
  struct Slot {
    uint64_t key = 0;
    int32_t node = -1;
  };

  static uint64_t key_of(int32_t node, char c) {
    return (uint64_t{static_cast<uint32_t>(node)} << 8) | static_cast<uint8_t>(c);
  }
  size_t slot_of(int32_t node, char c) const {
    const uint64_t key = key_of(node, c);
    const size_t mask = slots_.size() - 1;
    size_t slot = static_cast<size_t>((key * 0x9E3779B97F4A7C15u) >> 32) & mask;
    while (slots_[slot].node >= 0 && slots_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
  }
  int32_t child(int32_t node, char c) const { return slots_[slot_of(node, c)].node; }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.node < 0) continue;
      slots_[slot_of(static_cast<int32_t>(slot.key >> 8), static_cast<char>(slot.key & 0xFF))] =
          slot;
    }
  }

  std::vector<int32_t> values_;
  std::vector<Slot> slots_;
  bool first_[256] = {};
};

}  // namespace qfs::tokenizers

// The two hash tables of byte-level BPE: piece text to id, and pair of ids to merge.
//
// Used by ByteLevelBpe. Open addressing with linear probing: a vocabulary of 50,000 pieces opens in
// a few milliseconds, which an extractive method pays per cell. Immutable after filling.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace qfs::tokenizers {

/// Ids of pieces by their text. The pieces must outlive the index.
class PieceIndex {
 public:
  explicit PieceIndex(std::span<const std::string_view> pieces)
      : pieces_(pieces), slots_(std::bit_ceil(2 * pieces.size() + 1)) {}

  /// False when an equal piece is already there.
  bool insert(int32_t id) {
    const std::string_view piece = pieces_[static_cast<size_t>(id)];
    const size_t hash = std::hash<std::string_view>()(piece);
    Slot& slot = slots_[find_slot(piece, hash)];
    if (slot.id >= 0) return false;
    slot = {tag(hash), id};
    return true;
  }

  /// The id of `piece`, or -1.
  int32_t find(std::string_view piece) const {
    return slots_[find_slot(piece, std::hash<std::string_view>()(piece))].id;
  }

 private:
  struct Slot {
    uint32_t tag =
        0;  ///< high bits of the hash: most other pieces are told apart without their text
    int32_t id = -1;
  };

  static uint32_t tag(size_t hash) { return static_cast<uint32_t>(hash >> 32); }

  size_t find_slot(std::string_view piece, size_t hash) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = hash & mask;
    while (slots_[slot].id >= 0 && (slots_[slot].tag != tag(hash) ||
                                    pieces_[static_cast<size_t>(slots_[slot].id)] != piece)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  std::span<const std::string_view> pieces_;
  std::vector<Slot> slots_;
};

struct Merge {
  int32_t rank = -1;  ///< smaller merges first; -1: these two do not merge
  int32_t id = -1;    ///< what they become
};

class MergeTable {
 public:
  explicit MergeTable(size_t merges) : slots_(std::bit_ceil(2 * merges + 1)) {}

  /// Of equal pairs the first stays.
  void insert(int32_t left, int32_t right, Merge merge) {
    Slot& slot = slots_[find_slot(key(left, right))];
    if (slot.merge.rank < 0) slot = {key(left, right), merge};
  }

  Merge find(int32_t left, int32_t right) const {
    return slots_[find_slot(key(left, right))].merge;
  }

 private:
  struct Slot {
    uint64_t key = 0;
    Merge merge;
  };

  static uint64_t key(int32_t left, int32_t right) {
    return (uint64_t{static_cast<uint32_t>(left)} << 32) | static_cast<uint32_t>(right);
  }

  size_t find_slot(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    // Fibonacci hashing; the high bits are the mixed ones.
    size_t slot = static_cast<size_t>((key * 0x9E3779B97F4A7C15u) >> 32) & mask;
    while (slots_[slot].merge.rank >= 0 && slots_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
  }

  std::vector<Slot> slots_;
};

}  // namespace qfs::tokenizers

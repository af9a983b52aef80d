// InternTable: byte strings to dense ids 0, 1, 2 …, each distinct string stored once.
//
// Called by Vocabulary. Open addressing with linear probing over one array of ids, strings in one
// arena: a look-up touches one slot and compares one string. Not thread-safe; ids never change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qfs::metrics {

class InternTable {
 public:
  InternTable();

  /// The id of `text`; a new one, equal to the old size(), when it is seen for the first time.
  uint32_t id(std::string_view text);
  size_t size() const { return entries_.size(); }
  std::string_view text(uint32_t id) const {
    return std::string_view(arena_).substr(entries_[id].offset, entries_[id].length);
  }

 private:
  struct Entry {
    uint64_t hash = 0;
    size_t offset = 0;
    size_t length = 0;
  };
  void grow();

  std::string arena_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // id + 1; 0 is free; a power of two, at most half full
};

}  // namespace qfs::metrics

// WordCache: tokens of words seen before, bounded.
//
// Used by PipelineTokenizer behind its mutex. Words and tokens lie in three flat buffers; when
// these are full everything is forgotten at once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

class WordCache {
 public:
  /// Longer words are never kept.
  static constexpr size_t kLongestWord = 64;

  struct Piece {
    int32_t id;
    uint16_t begin;  ///< in the word
    uint16_t end;
  };

  WordCache() : slots_(kSlots) {}

  static size_t hash(std::string_view word) { return std::hash<std::string_view>()(word); }

  /// The pieces of a word, valid until the next insert; nullptr data when it is not there.
  std::span<const Piece> find(std::string_view word, size_t hash) const {
    for (size_t slot = hash & (kSlots - 1); slots_[slot].word_bytes > 0;
         slot = (slot + 1) & (kSlots - 1)) {
      const Slot& entry = slots_[slot];
      if (entry.tag == tag(hash) && entry.word_bytes == word.size() &&
          std::string_view(words_).substr(entry.word_begin, entry.word_bytes) == word) {
        return {pieces_.data() + entry.pieces_begin, entry.pieces};
      }
    }
    return {};
  }

  /// `word` is not empty, not longer than kLongestWord, and not there yet; it has pieces.
  void insert(std::string_view word, size_t hash, std::span<const Token> tokens) {
    if (entries_ >= kSlots / 2 || words_.size() > kMaxBytes) clear();
    size_t slot = hash & (kSlots - 1);
    while (slots_[slot].word_bytes > 0) slot = (slot + 1) & (kSlots - 1);
    slots_[slot] = {tag(hash), static_cast<uint32_t>(words_.size()),
                    static_cast<uint32_t>(pieces_.size()), static_cast<uint16_t>(word.size()),
                    static_cast<uint16_t>(tokens.size())};
    words_.append(word);
    for (const Token& token : tokens) {
      pieces_.push_back(
          {token.id, static_cast<uint16_t>(token.begin), static_cast<uint16_t>(token.end)});
    }
    ++entries_;
  }

 private:
  static constexpr size_t kSlots = size_t{1} << 16;
  static constexpr size_t kMaxBytes = size_t{4} << 20;

  struct Slot {
    uint32_t tag = 0;
    uint32_t word_begin = 0;
    uint32_t pieces_begin = 0;
    uint16_t word_bytes = 0;  ///< 0: free
    uint16_t pieces = 0;
  };

  static uint32_t tag(size_t hash) { return static_cast<uint32_t>(hash >> 32); }

  void clear() {
    slots_.assign(kSlots, {});
    words_.clear();
    pieces_.clear();
    entries_ = 0;
  }

  std::vector<Slot> slots_;
  std::string words_;
  std::vector<Piece> pieces_;
  size_t entries_ = 0;
};

}  // namespace qfs::tokenizers

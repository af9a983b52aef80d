// Vocabulary: pieces of text and their ids, both ways.
//
// Shared by models, added tokens and decoders. Immutable after making; thread-safe. Ids may have
// holes; of two equal pieces the later entry is found (as a dictionary would have it).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/result.h"

namespace qfs::tokenizers {

constexpr int64_t kMaxVocabulary = int64_t{1} << 24;

class Vocabulary {
 public:
  /// `data`: an id is negative or above the limit, or two pieces have one id.
  static Result<std::shared_ptr<const Vocabulary>> make(
      std::vector<std::pair<std::string, int64_t>> entries);

  /// -1 when there is none.
  int32_t find(std::string_view piece) const;
  /// Empty when the id has none.
  std::string_view piece(int32_t id) const {
    return id >= 0 && id < size() ? pieces_[static_cast<size_t>(id)] : std::string_view();
  }
  bool has(int32_t id) const {
    return id >= 0 && id < size() && pieces_[static_cast<size_t>(id)].data() != nullptr;
  }
  /// The largest id and one.
  int32_t size() const { return static_cast<int32_t>(pieces_.size()); }
  int64_t count() const { return count_; }

 private:
  Vocabulary() = default;
  size_t slot_of(std::string_view piece) const;

  std::string storage_;
  std::vector<std::string_view> pieces_;
  std::vector<int32_t> slots_;
  int64_t count_ = 0;
};

}  // namespace qfs::tokenizers

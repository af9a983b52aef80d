#include <unicode/ubrk.h>
#include <unicode/utext.h>

#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "methods/models/tokenizers/pipeline/normalizer.h"

namespace qfs::tokenizers {

namespace {

constexpr size_t kLongestClusterBytes = 5;

/// SentencePiece's table: a Darts double array over UTF-8 keys whose values are offsets into
/// zero-terminated texts. Every index is checked: the table is a stranger's.
class CharacterMap {
 public:
  static std::optional<CharacterMap> read(std::string_view bytes) {
    uint32_t trie_bytes = 0;
    if (bytes.size() < sizeof(trie_bytes)) return std::nullopt;
    std::memcpy(&trie_bytes, bytes.data(), sizeof(trie_bytes));
    if (trie_bytes > bytes.size() - sizeof(trie_bytes) || trie_bytes % sizeof(uint32_t) != 0 ||
        trie_bytes == 0) {
      return std::nullopt;
    }
    CharacterMap map;
    map.units_.resize(trie_bytes / sizeof(uint32_t));
    std::memcpy(map.units_.data(), bytes.data() + sizeof(trie_bytes), trie_bytes);
    map.texts_ = bytes.substr(sizeof(trie_bytes) + trie_bytes);
    return map;
  }

  /// The text for the shortest prefix of `key` that has one, as the reference takes it.
  std::optional<std::string_view> find(std::string_view key) const {
    size_t node = offset(units_[0]);
    for (const char c : key) {
      const auto byte = static_cast<uint8_t>(c);
      if (byte == 0) break;
      node ^= byte;
      if (node >= units_.size()) return std::nullopt;
      const uint32_t unit = units_[node];
      if ((unit & ((uint32_t{1} << 31) | 0xFF)) != byte) return std::nullopt;
      node ^= offset(unit);
      if (node >= units_.size()) return std::nullopt;
      if ((unit >> 8) & 1) return text_at(units_[node] & 0x7FFFFFFF);
    }
    return std::nullopt;
  }

 private:
  static size_t offset(uint32_t unit) { return (unit >> 10) << ((unit & (1 << 9)) >> 6); }

  std::optional<std::string_view> text_at(size_t index) const {
    if (index >= texts_.size()) return std::nullopt;
    const std::string_view rest = std::string_view(texts_).substr(index);
    return rest.substr(0, rest.find('\0'));
  }

  std::vector<uint32_t> units_;
  std::string texts_;
};

/// Ends of grapheme clusters; the segmenter is only asked where a letter can have something after
/// it.
class Clusters {
 public:
  explicit Clusters(std::string_view text) : text_(text) {}
  ~Clusters() {
    if (iterator_ != nullptr) ubrk_close(iterator_);
    if (source_ != nullptr) utext_close(source_);
  }
  Clusters(const Clusters&) = delete;
  Clusters& operator=(const Clusters&) = delete;

  size_t end_of(size_t begin) {
    const auto plain = [&](size_t at) {
      return at >= text_.size() || (static_cast<uint8_t>(text_[at]) < 0x80 && text_[at] != '\n');
    };
    if (static_cast<uint8_t>(text_[begin]) < 0x80 && plain(begin + 1)) return begin + 1;
    if (iterator_ == nullptr && !open()) {
      size_t end = begin;
      next_code_point(text_, end);
      return end;
    }
    // Going on is cheaper than finding a place.
    const bool here = position_ == static_cast<int32_t>(begin);
    position_ =
        here ? ubrk_next(iterator_) : ubrk_following(iterator_, static_cast<int32_t>(begin));
    return position_ == UBRK_DONE ? text_.size() : static_cast<size_t>(position_);
  }

 private:
  bool open() {
    UErrorCode error = U_ZERO_ERROR;
    source_ = utext_openUTF8(nullptr, text_.data(), static_cast<int64_t>(text_.size()), &error);
    iterator_ = ubrk_open(UBRK_CHARACTER, "", nullptr, 0, &error);
    ubrk_setUText(iterator_, source_, &error);
    return U_SUCCESS(error);
  }

  std::string_view text_;
  UText* source_ = nullptr;
  UBreakIterator* iterator_ = nullptr;
  int32_t position_ = -1;  ///< where the iterator stands
};

/// The changes of one replaced stretch: what is too much is put in, what is too little taken away
/// after the last one (also of an earlier stretch when this one leaves nothing).
void add_replacement(std::vector<Change>& changes, std::string_view old, std::string_view text) {
  int32_t surplus = 0;
  for_each_code_point(old, [&](char32_t, size_t, size_t) { --surplus; });
  const size_t begin = changes.size();
  for_each_code_point(text, [&](char32_t c, size_t, size_t) {
    changes.push_back({c, 0});
    ++surplus;
  });
  if (surplus < 0 && !changes.empty()) changes.back().change += surplus;
  for (size_t i = changes.size(); surplus > 0 && i > begin; --i, --surplus) {
    changes[i - 1].change = 1;
  }
}

class Precompiled final : public Normalizer {
 public:
  explicit Precompiled(CharacterMap map) : map_(std::move(map)) {}

  void apply(AlignedText& text) const override {
    const std::string_view old = text.text();
    std::vector<Change> changes;
    changes.reserve(old.size());
    bool modified = false;
    Clusters clusters(old);
    for (size_t begin = 0; begin < old.size();) {
      const size_t end = clusters.end_of(begin);
      const std::string_view cluster = old.substr(begin, end - begin);
      begin = end;
      if (cluster.size() <= kLongestClusterBytes && replace(cluster, changes)) {
        modified = true;
        continue;
      }
      for_each_code_point(cluster, [&](char32_t c, size_t from, size_t to) {
        if (replace(cluster.substr(from, to - from), changes)) {
          modified = true;
        } else {
          changes.push_back({c, 0});
        }
      });
    }
    if (modified) text.transform(changes);
  }

 private:
  bool replace(std::string_view part, std::vector<Change>& changes) const {
    const std::optional<std::string_view> text = map_.find(part);
    if (text) add_replacement(changes, part, *text);
    return text.has_value();
  }

  CharacterMap map_;
};

/// The reference's answer to an empty table: nothing changes.
class Nothing final : public Normalizer {
 public:
  void apply(AlignedText& /*text*/) const override {}
};

}  // namespace

Result<NormalizerPtr> make_precompiled(std::string_view charsmap) {
  if (charsmap.empty()) return NormalizerPtr(std::make_shared<const Nothing>());
  std::optional<CharacterMap> map = CharacterMap::read(charsmap);
  if (!map) return data_error("the precompiled character map is damaged");
  return NormalizerPtr(std::make_shared<const Precompiled>(*std::move(map)));
}

}  // namespace qfs::tokenizers

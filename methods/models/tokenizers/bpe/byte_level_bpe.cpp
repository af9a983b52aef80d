#include "methods/models/tokenizers/bpe/byte_level_bpe.h"

#include <array>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "methods/models/tokenizers/bpe/bpe_merge.h"
#include "methods/models/tokenizers/bpe/bpe_tables.h"
#include "methods/models/tokenizers/bpe/byte_alphabet.h"

namespace qfs::tokenizers {

namespace {

// Words longer than this are merged anew each time; shorter ones are remembered, up to the limit.
constexpr size_t kLongestCachedWordBytes = 64;
constexpr size_t kCachedWords = 65536;

class ByteLevelBpe final : public VocabularyTokenizer {
 public:
  ByteLevelBpe(BpeVocabulary vocabulary, PieceIndex index, MergeTable merges)
      : vocabulary_(std::move(vocabulary)), index_(std::move(index)), merges_(std::move(merges)) {
    for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
      byte_ids_[byte] = index_.find(alphabet_character(static_cast<uint8_t>(byte)));
    }
  }

  std::vector<Token> encode(std::string_view text) const override {
    std::vector<Token> tokens;
    tokens.reserve(text.size() / 4 + 1);
    const std::lock_guard lock(mutex_);
    split_words(vocabulary_.pattern, text, [&](std::string_view word) {
      const int64_t offset = word.data() - text.data();
      for (const Token& token : word_tokens(word)) {
        tokens.push_back({token.id, offset + token.begin, offset + token.end});
      }
    });
    return tokens;
  }

  int64_t count(std::string_view text) const override {
    int64_t tokens = 0;
    const std::lock_guard lock(mutex_);
    split_words(vocabulary_.pattern, text, [&](std::string_view word) {
      tokens += static_cast<int64_t>(word_tokens(word).size());
    });
    return tokens;
  }

  int64_t vocabulary_size() const override {
    return static_cast<int64_t>(vocabulary_.pieces.size());
  }

  std::string decode(std::span<const int32_t> ids) const override {
    std::string bytes;
    for (const int32_t id : ids) {
      if (id < 0 || id >= vocabulary_size() || vocabulary_.special[static_cast<size_t>(id)])
        continue;
      bytes += alphabet_bytes(vocabulary_.pieces[static_cast<size_t>(id)]);
    }
    return bytes;
  }

  std::optional<int32_t> special_id(std::string_view text) const override {
    const int32_t id = index_.find(text);
    if (id < 0 || !vocabulary_.special[static_cast<size_t>(id)]) return std::nullopt;
    return id;
  }

  std::vector<std::string> special_texts() const override {
    std::vector<std::string> texts;
    for (size_t id = 0; id < vocabulary_.pieces.size(); ++id) {
      if (vocabulary_.special[id]) texts.emplace_back(vocabulary_.pieces[id]);
    }
    return texts;
  }

  std::optional<int32_t> end_of_sequence_id() const override {
    return vocabulary_.end_of_sequence_id;
  }

  TextFrame frame() const override {
    if (!vocabulary_.first_id) return {};
    return {{*vocabulary_.first_id}, {}};
  }

 private:
  /// Tokens of one word, offsets relative to it; valid until the next call. Needs the lock.
  const std::vector<Token>& word_tokens(std::string_view word) const {
    if (word.size() > kLongestCachedWordBytes) {
      long_word_ = merge(word);
      return long_word_;
    }
    if (const auto it = cache_.find(word); it != cache_.end()) return it->second;
    if (cache_.size() >= kCachedWords) cache_.clear();
    return cache_.emplace(std::string(word), merge(word)).first->second;
  }

  std::vector<Token> merge(std::string_view word) const {
    std::vector<BpeSymbol> symbols;
    symbols.reserve(word.size());
    for (size_t i = 0; i < word.size(); ++i) {
      const int32_t id = byte_ids_[static_cast<uint8_t>(word[i])];
      const auto begin = static_cast<int32_t>(i);
      if (id >= 0) symbols.push_back({id, begin, begin + 1});
    }
    merge_symbols(merges_, symbols);
    std::vector<Token> tokens;
    for (const BpeSymbol& symbol : symbols) tokens.push_back({symbol.id, symbol.begin, symbol.end});
    return tokens;
  }

  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  BpeVocabulary vocabulary_;
  PieceIndex index_;
  MergeTable merges_;
  std::array<int32_t, 256> byte_ids_{};
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::vector<Token>, TextHash, std::equal_to<>> cache_;
  mutable std::vector<Token> long_word_;
};

Error bad_merge(size_t rank, std::string_view merge, std::string_view reason) {
  return data_error("merge " + std::to_string(rank) + " ('" + std::string(merge) +
                    "') of the tokenizer " + std::string(reason));
}

}  // namespace

Result<std::shared_ptr<const VocabularyTokenizer>> make_byte_level_bpe(BpeVocabulary vocabulary) {
  PieceIndex index(vocabulary.pieces);
  for (size_t id = 0; id < vocabulary.pieces.size(); ++id) {
    if (!index.insert(static_cast<int32_t>(id))) {
      return data_error("the tokenizer's piece '" + std::string(vocabulary.pieces[id]) +
                        "' occurs twice (id " + std::to_string(id) + ")");
    }
  }
  MergeTable merges(vocabulary.merges.size());
  std::string joined;
  for (size_t rank = 0; rank < vocabulary.merges.size(); ++rank) {
    const std::string_view text = vocabulary.merges[rank];
    const size_t space = text.find(' ');
    if (space == std::string_view::npos || space == 0 || space + 1 == text.size()) {
      return bad_merge(rank, text, "is not two pieces with a space between");
    }
    joined.assign(text.substr(0, space)).append(text.substr(space + 1));
    const int32_t left = index.find(text.substr(0, space));
    const int32_t right = index.find(text.substr(space + 1));
    const int32_t merged = index.find(joined);
    if (left < 0 || right < 0 || merged < 0) {
      return bad_merge(rank, text, "names a piece that the vocabulary lacks");
    }
    merges.insert(left, right, {static_cast<int32_t>(rank), merged});
  }
  return std::shared_ptr<const VocabularyTokenizer>(std::make_shared<const ByteLevelBpe>(
      std::move(vocabulary), std::move(index), std::move(merges)));
}

}  // namespace qfs::tokenizers

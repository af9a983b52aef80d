#include <algorithm>
#include <array>
#include <utility>

#include "methods/models/tokenizers/bpe/bpe_merge.h"
#include "methods/models/tokenizers/bpe/byte_alphabet.h"
#include "methods/models/tokenizers/pipeline/code_points.h"
#include "methods/models/tokenizers/pipeline/metaspace.h"
#include "methods/models/tokenizers/pipeline/model.h"

namespace qfs::tokenizers {

namespace {

/// The bytes behind a piece of a byte-level vocabulary; std::nullopt when it is not in the
/// alphabet.
std::optional<std::string> bytes_of(std::string_view piece) {
  std::string bytes = alphabet_bytes(piece);
  std::string back;
  for (const char c : bytes) back += alphabet_character(static_cast<uint8_t>(c));
  if (back != piece) return std::nullopt;
  return bytes;
}

std::string byte_piece(uint8_t byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return std::string("<0x") + kDigits[byte >> 4] + kDigits[byte & 15] + ">";
}

/// Where the first mark after something else begins; the size when there is none. Where no merge
/// joins a mark to what stands before, as in published vocabularies, text without pre-tokenizer
/// falls into words there all the same.
size_t cut_before_mark(std::string_view text) {
  size_t begin = 0;
  while (text.substr(begin).starts_with(kMetaspace)) begin += kMetaspace.size();
  return std::min(text.find(kMetaspace, begin), text.size());
}

/// Symbols of one word; what has none is the unknown token, a run of it one token where the file
/// fuses them, or nothing.
class SymbolList {
 public:
  SymbolList(std::vector<BpeSymbol>& symbols, int32_t unknown, bool fuse)
      : symbols_(symbols), unknown_(unknown), fuse_(fuse) {}

  void add(int32_t id, int32_t begin, int32_t end) {
    symbols_.push_back({id, begin, end});
    in_run_ = false;
  }
  void add_unknown(int32_t begin, int32_t end) {
    if (unknown_ < 0) return;
    if (in_run_ && fuse_) {
      symbols_.back().end = end;
    } else {
      symbols_.push_back({unknown_, begin, end});
    }
    in_run_ = true;
  }

 private:
  std::vector<BpeSymbol>& symbols_;
  int32_t unknown_;
  bool fuse_;
  bool in_run_ = false;
};

class BpeModel final : public Model {
 public:
  BpeModel(VocabularyPtr vocabulary, VocabularyPtr words, std::span<const BpeMerge> merges,
           BpeOptions options)
      : vocabulary_(std::move(vocabulary)),
        words_(std::move(words)),
        merges_(merges.size()),
        options_(std::move(options)) {
    // Of equal pairs the last counts, and the table keeps what it has.
    for (size_t i = merges.size(); i-- > 0;) {
      merges_.insert(merges[i].left, merges[i].right, {merges[i].rank, merges[i].merged});
    }
    for (size_t byte = 0; byte < 256; ++byte) {
      const auto value = static_cast<uint8_t>(byte);
      byte_ids_[byte] =
          vocabulary_->find(options_.byte_symbols ? alphabet_character(value) : byte_piece(value));
    }
    if (options_.unk_token) unk_ = vocabulary_->find(*options_.unk_token);
    separable_ = !options_.byte_symbols && !options_.ignore_merges &&
                 options_.continuing_subword_prefix.empty() &&
                 options_.end_of_word_suffix.empty() && vocabulary_->find(kMetaspace) >= 0 &&
                 std::all_of(merges.begin(), merges.end(), [&](const BpeMerge& merge) {
                   const std::string_view piece = vocabulary_->piece(merge.merged);
                   return cut_before_mark(piece) == piece.size();
                 });
  }

  const Vocabulary& vocabulary() const override { return *vocabulary_; }

  size_t independent_prefix(std::string_view word) const override {
    return separable_ ? cut_before_mark(word) : word.size();
  }

  void tokenize(std::string_view word, std::vector<Token>& out) const override {
    if (options_.ignore_merges) {
      const int32_t id = words_->find(word);
      if (id >= 0) {
        out.push_back({id, 0, static_cast<int64_t>(word.size())});
        return;
      }
    }
    std::vector<BpeSymbol> symbols;
    symbols.reserve(word.size());
    SymbolList list(symbols, unk_, options_.fuse_unk);
    if (options_.byte_symbols) {
      add_bytes(word, list);
    } else {
      add_characters(word, list);
    }
    merge_symbols(merges_, symbols);
    for (const BpeSymbol& symbol : symbols) out.push_back({symbol.id, symbol.begin, symbol.end});
  }

 private:
  /// One symbol a byte. Without an unknown token a byte that has none is left out. The reference
  /// leaves it out too, but then gives the tokens behind it in the same word ranges that begin a
  /// byte early.
  void add_bytes(std::string_view word, SymbolList& symbols) const {
    for (size_t i = 0; i < word.size(); ++i) {
      const int32_t id = byte_ids_[static_cast<uint8_t>(word[i])];
      const auto begin = static_cast<int32_t>(i);
      if (id >= 0) {
        symbols.add(id, begin, begin + 1);
      } else {
        symbols.add_unknown(begin, begin + 1);
      }
    }
  }

  /// One symbol a code point; one without a piece as its bytes' pieces, where all are there.
  void add_characters(std::string_view word, SymbolList& symbols) const {
    std::string piece;
    for (size_t position = 0; position < word.size();) {
      const size_t from = position;
      next_code_point(word, position);
      const auto begin = static_cast<int32_t>(from);
      const auto end = static_cast<int32_t>(position);
      piece.clear();
      if (from > 0) piece = options_.continuing_subword_prefix;
      piece.append(word.substr(from, position - from));
      if (position == word.size()) piece += options_.end_of_word_suffix;
      if (const int32_t id = vocabulary_->find(piece); id >= 0) {
        symbols.add(id, begin, end);
        continue;
      }
      if (options_.byte_fallback && add_byte_pieces(piece, begin, end, symbols)) continue;
      symbols.add_unknown(begin, end);
    }
  }

  bool add_byte_pieces(std::string_view piece, int32_t begin, int32_t end,
                       SymbolList& symbols) const {
    const auto known = [&](char c) { return byte_ids_[static_cast<uint8_t>(c)] >= 0; };
    if (!std::all_of(piece.begin(), piece.end(), known)) return false;
    for (size_t i = 0; i < piece.size(); ++i) {
      const int32_t at = std::min(begin + static_cast<int32_t>(i), end);
      symbols.add(byte_ids_[static_cast<uint8_t>(piece[i])], at, std::min(at + 1, end));
    }
    return true;
  }

  VocabularyPtr vocabulary_;
  VocabularyPtr words_;  ///< by what words are written in
  MergeTable merges_;
  BpeOptions options_;
  std::array<int32_t, 256> byte_ids_{};
  int32_t unk_ = -1;
  bool separable_ = false;  ///< no merge joins a mark to what stands before it
};

}  // namespace

Result<ModelPtr> make_bpe(VocabularyPtr vocabulary, std::span<const BpeMerge> merges,
                          BpeOptions options) {
  if (options.unk_token && vocabulary->find(*options.unk_token) < 0) {
    return data_error("the unknown token '" + *options.unk_token + "' is not in the vocabulary");
  }
  VocabularyPtr words = vocabulary;
  if (options.byte_symbols && options.ignore_merges) {
    std::vector<std::pair<std::string, int64_t>> entries;
    for (int32_t id = 0; id < vocabulary->size(); ++id) {
      if (!vocabulary->has(id)) continue;
      if (auto bytes = bytes_of(vocabulary->piece(id))) entries.emplace_back(*std::move(bytes), id);
    }
    const auto made = Vocabulary::make(std::move(entries));
    if (!made.ok()) return made.error();
    words = *made;
  }
  return ModelPtr(std::make_shared<const BpeModel>(std::move(vocabulary), std::move(words), merges,
                                                   std::move(options)));
}

std::vector<BpeMerge> merges_of_ranked_pieces(const Vocabulary& vocabulary,
                                              const std::vector<std::optional<int32_t>>& ranks) {
  std::vector<BpeMerge> merges;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::optional<int32_t> rank = ranks[static_cast<size_t>(id)];
    if (!rank) continue;
    const std::string_view piece = vocabulary.piece(id);
    for (size_t cut = 0; cut < piece.size();) {
      next_code_point(piece, cut);
      if (cut >= piece.size()) break;
      const int32_t left = vocabulary.find(piece.substr(0, cut));
      if (left < 0) continue;
      const int32_t right = vocabulary.find(piece.substr(cut));
      if (right >= 0) merges.push_back({left, right, id, *rank});
    }
  }
  return merges;
}

}  // namespace qfs::tokenizers

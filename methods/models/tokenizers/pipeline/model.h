// Models: the third step of a tokenizer.json, which cuts one word into pieces of the vocabulary.
//
// Made by the readers of formats; used by PipelineTokenizer, which remembers words. Immutable after
// making; thread-safe. Names and behaviour: `models` of Hugging Face tokenizers 0.23.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/tokenizers/pipeline/vocabulary.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

class Model {
 public:
  virtual ~Model() = default;
  /// Appends the tokens of a word, offsets from its begin. The word is not empty.
  virtual void tokenize(std::string_view word, std::vector<Token>& out) const = 0;
  virtual const Vocabulary& vocabulary() const = 0;
  /// Length of a first part of the word whose tokens, and those of the rest, are the same without
  /// one another; the whole word when none is known.
  virtual size_t independent_prefix(std::string_view word) const { return word.size(); }
};

using ModelPtr = std::shared_ptr<const Model>;
using VocabularyPtr = std::shared_ptr<const Vocabulary>;

struct BpeOptions {
  bool byte_symbols = false;  ///< words are bytes, pieces are written in GPT-2's byte alphabet
  bool byte_fallback = false;
  bool fuse_unk = false;
  bool ignore_merges = false;  ///< a word that is a piece is that token
  std::optional<std::string> unk_token;
  std::string continuing_subword_prefix;
  std::string end_of_word_suffix;
};

/// Two pieces that merge; smaller ranks first, leftmost on ties.
struct BpeMerge {
  int32_t left;
  int32_t right;
  int32_t merged;
  int32_t rank;
};

/// `data`: the unknown token is not in the vocabulary.
Result<ModelPtr> make_bpe(VocabularyPtr vocabulary, std::span<const BpeMerge> merges,
                          BpeOptions options);
/// The merges of vocabularies that rank pieces instead of pairs: every way to make a piece of two
/// has its rank. `rank(id)` gives nothing for pieces that are never made.
std::vector<BpeMerge> merges_of_ranked_pieces(const Vocabulary& vocabulary,
                                              const std::vector<std::optional<int32_t>>& ranks);

struct WordPieceOptions {
  std::string unk_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  int64_t max_input_chars_per_word = 100;
};
Result<ModelPtr> make_word_piece(VocabularyPtr vocabulary, const WordPieceOptions& options);

struct UnigramOptions {
  int32_t unk_id = 0;
  bool byte_fallback = false;
};
/// `scores` by id, one for each piece.
Result<ModelPtr> make_unigram(VocabularyPtr vocabulary, std::vector<double> scores,
                              const UnigramOptions& options);

}  // namespace qfs::tokenizers

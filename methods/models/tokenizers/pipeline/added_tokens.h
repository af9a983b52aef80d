// Added tokens: texts that are one token wherever they occur, before the model sees anything.
//
// Made by the readers of formats; used by PipelineTokenizer. Immutable after making; thread-safe.
// Behaviour: AddedVocabulary of Hugging Face tokenizers 0.23 (leftmost, longest; tokens that are
// not `normalized` are looked for in the text as it is, the others after normalization).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "methods/models/tokenizers/pipeline/byte_trie.h"
#include "methods/models/tokenizers/pipeline/normalizer.h"

namespace qfs::tokenizers {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool single_word = false;  ///< not inside a word
  bool lstrip = false;       ///< takes the white space before it
  bool rstrip = false;       ///< and after it
  bool normalized = true;
  bool special = false;
};

/// A stretch of text: a token, or plain text (id -1).
struct Stretch {
  int32_t id;
  size_t begin;
  size_t end;
};

class AddedTokens {
 public:
  AddedTokens() = default;
  AddedTokens(std::vector<AddedToken> tokens, const Normalizer* normalizer);

  /// The stretches of a text as it was given (normalized = false) or after normalization, in order.
  /// With `plain`, special tokens are ordinary text.
  void split(std::string_view text, bool normalized, bool plain, std::vector<Stretch>& out) const;
  /// Whether split() may find anything.
  bool any(bool normalized) const { return !group(normalized).tokens.empty(); }

  const AddedToken* find(int32_t id) const;
  const AddedToken* find(std::string_view content) const;
  const std::vector<AddedToken>& all() const { return tokens_; }

 private:
  struct Group {
    ByteTrie trie;
    std::vector<size_t> tokens;  ///< indices behind the trie's values
  };
  const Group& group(bool normalized) const { return normalized ? after_ : before_; }

  std::vector<AddedToken> tokens_;
  std::map<int32_t, size_t> by_id_;
  std::map<std::string, size_t, std::less<>> by_content_;
  Group before_;
  Group after_;
};

}  // namespace qfs::tokenizers

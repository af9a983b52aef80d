// Tokenizer: splits text into the tokens of a cell, with their byte ranges, so that lengths can be
// counted and documents cut; VocabularyTokenizer adds the ids that a language model reads.
//
// Called by truncation, extractive methods and model sessions. Instances are immutable from outside
// and thread-safe. Texts are valid UTF-8 and always *plain*: special tokens such as "<|im_end|>" in
// a document are encoded as the characters they are made of.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qfs::tokenizers {

/// One token of a text. Byte-level tokens may begin or end inside a code point. Where normalization
/// makes several tokens of one code point, each has all of it.
struct Token {
  int32_t id = -1;    ///< vocabulary id; -1 for tokenizers without a vocabulary
  int64_t begin = 0;  ///< byte offset into the text
  int64_t end = 0;    ///< exclusive

  friend bool operator==(const Token&, const Token&) = default;
};

std::vector<int32_t> ids_of(std::span<const Token> tokens);

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The tokens of a plain text in order. Bytes between tokens (white space for `words`) belong to
  /// none. Throws ErrorException (`data`) when a regular expression of the tokenizer's file exceeds
  /// its limits of time and stack on this text; hosts make it the error of the request.
  virtual std::vector<Token> encode(std::string_view text) const = 0;

  /// encode(text).size(), possibly without making the tokens.
  virtual int64_t count(std::string_view text) const {
    return static_cast<int64_t>(encode(text).size());
  }
};

/// What an encoder-type model reads: tokens and the segment each belongs to. Tokens that the file's
/// template puts in have an empty range.
struct ModelInput {
  std::vector<Token> tokens;
  std::vector<int32_t> type_ids;
};

/// The special tokens that a tokenizer wants around one text.
struct TextFrame {
  std::vector<int32_t> before;
  std::vector<int32_t> after;

  size_t size() const { return before.size() + after.size(); }
};

/// A tokenizer with a vocabulary: what backbones are fed with.
class VocabularyTokenizer : public Tokenizer {
 public:
  virtual int64_t vocabulary_size() const = 0;

  /// The bytes of the ids, concatenated; special tokens and unknown ids give nothing. The result
  /// may be ill-formed UTF-8 when generation ended inside a code point (see repair_utf8).
  virtual std::string decode(std::span<const int32_t> ids) const = 0;

  /// The id of a special (control) token by its exact text; the only way to reach one.
  virtual std::optional<int32_t> special_id(std::string_view text) const = 0;

  /// The texts of all special tokens: what a chat template may put in.
  virtual std::vector<std::string> special_texts() const = 0;

  /// Ends a generated text, when the file names one.
  virtual std::optional<int32_t> end_of_sequence_id() const = 0;

  /// encode() for text of our own making: special tokens written in it are those tokens. Never for
  /// documents and queries.
  virtual std::vector<Token> encode_marked(std::string_view text) const { return encode(text); }

  /// The ids of a plain text that stands behind something else, as a turn behind a special token:
  /// without the mark that some files put before the beginning of a text alone.
  virtual std::vector<int32_t> ids_behind(std::string_view text) const;

  /// None without an override.
  virtual TextFrame frame() const { return {}; }

  /// One plain text inside frame(), or two inside the tokens that the file wants around them.
  /// Ranges are those in the text that a token is from; truncation and
  /// padding of the file are not applied.
  virtual ModelInput model_input(std::string_view text) const;
  virtual ModelInput model_input(std::string_view first, std::string_view second) const;
};

}  // namespace qfs::tokenizers

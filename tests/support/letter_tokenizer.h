// A vocabulary of single bytes: id i is the character '!' + i; nothing is special. For tests of
// generation on tiny random models.
#pragma once

#include <string>
#include <vector>

#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::test {

class LetterTokenizer final : public tokenizers::VocabularyTokenizer {
 public:
  std::vector<tokenizers::Token> encode(std::string_view text) const override {
    std::vector<tokenizers::Token> tokens;
    for (size_t i = 0; i < text.size(); ++i) {
      tokens.push_back({text[i] - '!', static_cast<int64_t>(i), static_cast<int64_t>(i) + 1});
    }
    return tokens;
  }
  int64_t vocabulary_size() const override { return 90; }
  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids) text += static_cast<char>('!' + id);
    return text;
  }
  std::optional<int32_t> special_id(std::string_view) const override { return std::nullopt; }
  std::vector<std::string> special_texts() const override { return {}; }
  std::optional<int32_t> end_of_sequence_id() const override { return std::nullopt; }
};

}  // namespace qfs::test

// A vocabulary of single bytes and one special token, "</s>", for tests of what is put around
// texts. Immutable; thread-safe; cannot fail.
#pragma once

#include "tests/support/letter_tokenizer.h"

namespace qfs::test {

class MarkedTokenizer final : public tokenizers::VocabularyTokenizer {
 public:
  static constexpr int32_t kSeparator = 1000;

  std::vector<tokenizers::Token> encode(std::string_view text) const override {
    return letters_.encode(text);
  }
  int64_t vocabulary_size() const override { return kSeparator + 1; }
  std::string decode(std::span<const int32_t> ids) const override { return letters_.decode(ids); }
  std::optional<int32_t> special_id(std::string_view text) const override {
    return text == "</s>" ? std::optional<int32_t>(kSeparator) : std::nullopt;
  }
  std::vector<std::string> special_texts() const override { return {"</s>"}; }
  std::optional<int32_t> end_of_sequence_id() const override { return kSeparator; }

 private:
  LetterTokenizer letters_;
};

}  // namespace qfs::test

// A tokenizer that is another one, for tests that change a single thing of it. Immutable;
// thread-safe; cannot fail.
#pragma once

#include <memory>
#include <utility>

#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::test {

class WrappedTokenizer : public tokenizers::VocabularyTokenizer {
 public:
  explicit WrappedTokenizer(std::shared_ptr<const tokenizers::VocabularyTokenizer> inner)
      : inner_(std::move(inner)) {}
  std::vector<tokenizers::Token> encode(std::string_view text) const override {
    return inner_->encode(text);
  }
  int64_t vocabulary_size() const override { return inner_->vocabulary_size(); }
  std::string decode(std::span<const int32_t> ids) const override { return inner_->decode(ids); }
  std::optional<int32_t> special_id(std::string_view text) const override {
    return inner_->special_id(text);
  }
  std::vector<std::string> special_texts() const override { return inner_->special_texts(); }
  std::optional<int32_t> end_of_sequence_id() const override {
    return inner_->end_of_sequence_id();
  }

 private:
  std::shared_ptr<const tokenizers::VocabularyTokenizer> inner_;
};

}  // namespace qfs::test

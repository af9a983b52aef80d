// TextInputs: what an encoder reads of a text, the special tokens around it included.
//
// Used by TextEmbedder. Immutable; thread-safe. Source of the rules: bert_score 0.3.13, utils.py
// `sent_encode`, which calls the Hugging Face tokenizer with truncation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/architectures/bert/text_embedder.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::architectures {

class TextInputs {
 public:
  /// `max_tokens`: what the encoder reads; the tokenizer's own `model_max_length` may be less.
  /// Errors: those of open_tokenizer_files; `unavailable` when the special tokens around a text
  /// leave no room for it.
  static Result<TextInputs> open(const std::string& folder, int64_t max_tokens, bool prefix_space);

  Result<TextTokens> tokens(std::string_view text) const;

 private:
  std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer_;
  tokenizers::TextFrame frame_;
  size_t max_tokens_ = 0;
  bool prefix_space_ = false;
};

}  // namespace qfs::architectures

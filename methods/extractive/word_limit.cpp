#include "methods/extractive/word_limit.h"

#include <vector>

#include "methods/tokenizers/builtin_tokenizers.h"

namespace qfs::extractive {
namespace {

const tokenizers::Tokenizer& words_tokenizer() {
  static const auto words = tokenizers::make_builtin_tokenizer("words");
  return *words;
}

}  // namespace

int64_t count_words(std::string_view text) { return words_tokenizer().count(text); }

std::string_view first_words(std::string_view text, int64_t limit) {
  const std::vector<tokenizers::Token> words = words_tokenizer().encode(text);
  if (static_cast<int64_t>(words.size()) <= limit) return text;
  if (limit == 0) return text.substr(0, 0);
  return text.substr(0, static_cast<size_t>(words[static_cast<size_t>(limit - 1)].end));
}

}  // namespace qfs::extractive

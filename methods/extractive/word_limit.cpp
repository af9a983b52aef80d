#include "methods/extractive/word_limit.h"

#include <vector>

#include "methods/models/tokenizers/builtin_tokenizers.h"

namespace qfs::extractive {
namespace {

const tokenizers::Tokenizer& words_of(retrieval::Script script) {
  static const auto words = tokenizers::make_builtin_tokenizer("words");
  static const auto characters = tokenizers::make_builtin_tokenizer("characters");
  return script == retrieval::Script::chinese ? *characters : *words;
}

}  // namespace

int64_t count_words(std::string_view text, retrieval::Script script) {
  return words_of(script).count(text);
}

std::string_view first_words(std::string_view text, int64_t limit, retrieval::Script script) {
  const std::vector<tokenizers::Token> words = words_of(script).encode(text);
  if (static_cast<int64_t>(words.size()) <= limit) return text;
  if (limit == 0) return text.substr(0, 0);
  return text.substr(0, static_cast<size_t>(words[static_cast<size_t>(limit - 1)].end));
}

}  // namespace qfs::extractive

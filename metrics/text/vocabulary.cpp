#include "metrics/text/vocabulary.h"

#include "metrics/text/porter_stemmer.h"
#include "metrics/text/tokens.h"

namespace qfs::metrics {
namespace {

constexpr size_t kLongestUnstemmed = 3;  // rouge_score 0.1.2, tokenize.py

}  // namespace

TokenId Vocabulary::id(std::string_view token) {
  if (!stem_) return tokens_.id(token);
  const uint32_t surface = surfaces_.id(token);
  if (surface == token_of_surface_.size()) {
    token_of_surface_.push_back(
        token.size() > kLongestUnstemmed ? tokens_.id(porter_nltk_stem(token)) : tokens_.id(token));
  }
  return token_of_surface_[surface];
}

void Vocabulary::append_line(std::string_view line, EncodedText& encoded) {
  for_each_token(line, buffer_,
                 [&](std::string_view token) { encoded.tokens.push_back(id(token)); });
  encoded.line_ends.push_back(encoded.tokens.size());
}

EncodedText Vocabulary::encode(std::string_view text) {
  EncodedText encoded;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    append_line(text.substr(begin, end - begin), encoded);
    begin = end + 1;
  }
  return encoded;
}

}  // namespace qfs::metrics

#include "metrics/rouge155/vocabulary.h"

#include "metrics/rouge155/cyl_stemmer.h"
#include "metrics/text/tokens.h"

namespace qfs::metrics::rouge155 {
namespace {

constexpr size_t kLongestUnstemmed = 3;

}  // namespace

TokenId Vocabulary::id_of(std::string_view surface) {
  const uint32_t known = surfaces_.id(surface);
  if (known < token_of_surface_.size()) return token_of_surface_[known];
  TokenId id = kDropped;
  if (!lexicon_->stop_words.words.contains(surface)) {
    const auto& lemma_of = lexicon_->exceptions.lemma_of;
    if (!lexicon_->stem || surface.size() <= kLongestUnstemmed) {
      id = tokens_.id(surface);
    } else if (const auto it = lemma_of.find(surface); it != lemma_of.end()) {
      id = tokens_.id(it->second);
    } else {
      id = tokens_.id(cyl_stem(surface));
    }
  }
  token_of_surface_.push_back(id);
  return id;
}

void Vocabulary::append(std::string_view sentence, std::vector<TokenId>& tokens) {
  const auto flush = [&] {
    if (buffer_.empty()) return;
    const TokenId id = id_of(buffer_);
    if (id != kDropped) tokens.push_back(id);
    buffer_.clear();
  };
  for (char c : sentence) {
    const char lower = kTokenCharacters[static_cast<unsigned char>(c)];
    if (lower != 0) {
      buffer_.push_back(lower);
    } else {
      flush();
    }
  }
  flush();
}

}  // namespace qfs::metrics::rouge155

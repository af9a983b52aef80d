#include "methods/models/tokenizers/pipeline/added_tokens.h"

#include <algorithm>
#include <utility>

namespace qfs::tokenizers {

namespace {

bool ends_with_word(std::string_view text) {
  char32_t last = U' ';
  for (size_t position = text.size() - std::min<size_t>(text.size(), 4); position < text.size();) {
    last = next_code_point(text, position);
  }
  return !text.empty() && is_word_character(last);
}

bool starts_with_word(std::string_view text) {
  size_t position = 0;
  return !text.empty() && is_word_character(next_code_point(text, position));
}

/// Where the white space at the end of the text begins.
size_t trailing_space(std::string_view text) {
  size_t begin = text.size();
  size_t end_of_word = 0;
  for_each_code_point(text.substr(0, begin), [&](char32_t c, size_t, size_t end) {
    if (!is_white_space(c)) end_of_word = end;
  });
  return end_of_word;
}

size_t leading_space(std::string_view text) {
  size_t end = 0;
  while (end < text.size()) {
    size_t after = end;
    if (!is_white_space(next_code_point(text, after))) break;
    end = after;
  }
  return end;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const Normalizer* normalizer)
    : tokens_(std::move(tokens)) {
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    by_id_[token.id] = i;
    by_content_[token.content] = i;
    Group& group = token.normalized ? after_ : before_;
    AlignedText text(token.content, 0);
    if (token.normalized && normalizer != nullptr) normalizer->apply(text);
    if (text.text().empty()) continue;
    group.trie.insert(text.text(), static_cast<int32_t>(group.tokens.size()));
    group.tokens.push_back(i);
  }
}

const AddedToken* AddedTokens::find(int32_t id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &tokens_[it->second];
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto it = by_content_.find(content);
  return it == by_content_.end() ? nullptr : &tokens_[it->second];
}

void AddedTokens::split(std::string_view text, bool normalized, bool plain,
                        std::vector<Stretch>& out) const {
  const Group& tokens = group(normalized);
  size_t rest = 0;
  for (size_t at = 0; at < text.size();) {
    size_t length = 0;
    int32_t value = -1;
    if (tokens.trie.begins(text[at])) {
      tokens.trie.prefixes(text.substr(at), [&](size_t found, int32_t index) {
        length = found;
        value = index;
      });
    }
    if (value < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[tokens.tokens[static_cast<size_t>(value)]];
    size_t begin = at;
    size_t end = at + length;
    at = end;
    if (plain && token.special) continue;
    if (token.single_word &&
        (ends_with_word(text.substr(0, begin)) || starts_with_word(text.substr(end)))) {
      continue;
    }
    if (token.lstrip)
      begin = rest + trailing_space(text.substr(rest, std::max(begin, rest) - rest));
    if (token.rstrip) end += leading_space(text.substr(end));
    begin = std::max(begin, rest);
    if (begin >= end) continue;  // white space that a token before has taken
    if (rest < begin) out.push_back({-1, rest, begin});
    out.push_back({token.id, begin, end});
    rest = end;
  }
  if (rest < text.size()) out.push_back({-1, rest, text.size()});
}

}  // namespace qfs::tokenizers

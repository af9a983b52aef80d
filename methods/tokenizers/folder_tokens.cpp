#include "methods/tokenizers/folder_tokens.h"

#include <algorithm>

namespace qfs::tokenizers {

namespace {

std::string_view text_of(const PipelineParts& parts, int32_t id) {
  const auto added = std::ranges::find(parts.added_tokens, id, &AddedToken::id);
  return added == parts.added_tokens.end() ? parts.model->vocabulary().piece(id) : added->content;
}

Status add(const AddedToken& token, const std::string& source, PipelineParts& parts) {
  const std::string stated =
      "the added token '" + token.content + "' has the id " + std::to_string(token.id);
  const std::optional<int32_t> known = find_token(parts, token.content);
  if (known && *known != token.id) {
    return data_error(stated + "; in the tokenizer's file it has " + std::to_string(*known),
                      source);
  }
  const std::string_view other = text_of(parts, token.id);
  if (!known && !other.empty()) {
    return data_error(stated + " of the piece '" + std::string(other) + "'", source);
  }
  std::erase_if(parts.added_tokens, [&](const AddedToken& other) { return other.id == token.id; });
  parts.added_tokens.push_back(token);
  return {};
}

}  // namespace

std::optional<int32_t> find_token(const PipelineParts& parts, std::string_view text) {
  const auto added = std::ranges::find(parts.added_tokens, text, &AddedToken::content);
  if (added != parts.added_tokens.end()) return added->id;
  const int32_t id = parts.model->vocabulary().find(text);
  return id < 0 ? std::nullopt : std::optional(id);
}

Status add_folder_tokens(const TokenizerConfig& config, const std::string& source,
                         PipelineParts& parts) {
  for (const AddedToken& token : config.added_tokens) {
    if (Status added = add(token, source, parts); !added.ok()) return added;
  }
  for (const std::string& text : config.special_texts) {
    const auto added = std::ranges::find(parts.added_tokens, text, &AddedToken::content);
    if (added != parts.added_tokens.end()) {
      added->special = true;
    } else if (const std::optional<int32_t> id = find_token(parts, text)) {
      parts.added_tokens.push_back(
          {.id = *id, .content = text, .normalized = false, .special = true});
    }
  }
  return {};
}

}  // namespace qfs::tokenizers

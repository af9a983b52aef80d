#include "methods/models/tokenizers/settings/folder_tokens.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace qfs::tokenizers {

namespace {

/// The tokens of a file under their texts and ids, while the folder's are put to them.
class TokenIndex {
 public:
  TokenIndex(PipelineParts& parts, const std::string& source) : parts_(parts), source_(source) {
    for (size_t i = 0; i < parts_.added_tokens.size(); ++i) enter(i);
  }

  Status add(const AddedToken& token) {
    const std::string stated =
        "the added token '" + token.content + "' has the id " + std::to_string(token.id);
    const auto same = by_text_.find(token.content);
    const int32_t known =
        same != by_text_.end() ? tokens()[same->second].id : vocabulary().find(token.content);
    if (known >= 0 && known != token.id) {
      return data_error(stated + "; in the tokenizer's file it has " + std::to_string(known),
                        source_);
    }
    if (same != by_text_.end()) {
      tokens()[same->second] = token;
      return {};
    }
    const auto other = by_id_.find(token.id);
    const std::string_view there =
        other != by_id_.end() ? tokens()[other->second].content : vocabulary().piece(token.id);
    if (known < 0 && !there.empty()) {
      return data_error(stated + " of the piece '" + std::string(there) + "'", source_);
    }
    tokens().push_back(token);
    enter(tokens().size() - 1);
    return {};
  }

  void make_special(const std::string& text) {
    const auto found = by_text_.find(text);
    if (found != by_text_.end()) {
      tokens()[found->second].special = true;
    } else if (const int32_t id = vocabulary().find(text); id >= 0) {
      tokens().push_back({.id = id, .content = text, .normalized = false, .special = true});
      enter(tokens().size() - 1);
    }
  }

 private:
  std::vector<AddedToken>& tokens() { return parts_.added_tokens; }
  const Vocabulary& vocabulary() const { return parts_.model->vocabulary(); }
  void enter(size_t index) {
    by_text_.emplace(tokens()[index].content, index);
    by_id_.emplace(tokens()[index].id, index);
  }

  PipelineParts& parts_;
  const std::string& source_;
  std::unordered_map<std::string, size_t> by_text_;
  std::unordered_map<int32_t, size_t> by_id_;
};

}  // namespace

std::optional<int32_t> find_token(const PipelineParts& parts, std::string_view text) {
  const auto added = std::ranges::find(parts.added_tokens, text, &AddedToken::content);
  if (added != parts.added_tokens.end()) return added->id;
  const int32_t id = parts.model->vocabulary().find(text);
  return id < 0 ? std::nullopt : std::optional(id);
}

Status add_folder_tokens(const TokenizerConfig& config, const std::string& source,
                         PipelineParts& parts) {
  TokenIndex index(parts, source);
  for (const AddedToken& token : config.added_tokens) {
    if (Status added = index.add(token); !added.ok()) return added;
  }
  for (const std::string& text : config.special_texts) index.make_special(text);
  return {};
}

}  // namespace qfs::tokenizers

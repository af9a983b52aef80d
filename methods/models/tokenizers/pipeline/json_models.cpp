#include <nlohmann/json.hpp>
#include <utility>

#include "methods/models/tokenizers/pipeline/json_parts.h"

namespace qfs::tokenizers {

namespace {

using nlohmann::json;

/// {"piece": id, …}.
Result<VocabularyPtr> read_vocabulary(const JsonNode& node) {
  const std::optional<JsonNode> member = node.member("vocab");
  if (!member || !member->value().is_object()) {
    return node.malformed("the member 'vocab' is missing or no object");
  }
  std::vector<std::pair<std::string, int64_t>> entries;
  entries.reserve(member->value().size());
  for (auto it = member->value().begin(); it != member->value().end(); ++it) {
    if (!it->is_number_integer()) {
      return member->malformed("the id of piece '" + it.key() + "' is no integer");
    }
    entries.emplace_back(it.key(), it->get<int64_t>());
  }
  Result<VocabularyPtr> vocabulary = Vocabulary::make(std::move(entries));
  if (!vocabulary.ok()) return member->malformed(vocabulary.error().message);
  return vocabulary;
}

/// The two pieces of a merge: "a b" or ["a", "b"].
std::optional<std::pair<std::string_view, std::string_view>> merge_pieces(const json& item) {
  if (const auto* text = item.get_ptr<const std::string*>()) {
    const std::string_view view = *text;
    const size_t space = view.find(' ');
    if (space == view.npos || view.find(' ', space + 1) != view.npos) return std::nullopt;
    return std::pair(view.substr(0, space), view.substr(space + 1));
  }
  if (!item.is_array() || item.size() != 2) return std::nullopt;
  const auto* left = item[0].get_ptr<const std::string*>();
  const auto* right = item[1].get_ptr<const std::string*>();
  if (left == nullptr || right == nullptr) return std::nullopt;
  return std::pair(std::string_view(*left), std::string_view(*right));
}

Result<std::vector<BpeMerge>> read_merges(const JsonNode& node, const Vocabulary& vocabulary,
                                          std::string_view prefix) {
  const std::optional<JsonNode> member = node.member("merges");
  if (!member || !member->value().is_array()) {
    return node.malformed("the member 'merges' is missing or no list");
  }
  std::vector<BpeMerge> merges;
  merges.reserve(member->value().size());
  std::string joined;
  for (const json& item : member->value()) {
    const auto rank = static_cast<int32_t>(merges.size());
    const auto pieces = merge_pieces(item);
    if (!pieces) return member->malformed("merge " + std::to_string(rank) + " is not two pieces");
    std::string_view tail = pieces->second;
    if (!prefix.empty() && tail.starts_with(prefix)) tail.remove_prefix(prefix.size());
    joined.assign(pieces->first).append(tail);
    const BpeMerge merge = {vocabulary.find(pieces->first), vocabulary.find(pieces->second),
                            vocabulary.find(joined), rank};
    if (merge.left < 0 || merge.right < 0 || merge.merged < 0) {
      return member->malformed(
          "merge " + std::to_string(rank) + " ('" + std::string(pieces->first) + "' and '" +
          std::string(pieces->second) + "') names a piece that the vocabulary lacks");
    }
    merges.push_back(merge);
  }
  return merges;
}

Result<ModelPtr> read_bpe(const JsonNode& node, bool byte_words) {
  const std::optional<JsonNode> dropout = node.member("dropout");
  if (dropout && !(dropout->value().is_number() && dropout->value().get<double>() == 0)) {
    return dropout->unsupported("dropout: equal texts would get different tokens");
  }
  BpeOptions options;
  options.byte_symbols = byte_words;
  struct Switch {
    std::string_view key;
    bool& value;
  };
  for (const auto& [key, value] :
       std::initializer_list<Switch>{{"byte_fallback", options.byte_fallback},
                                     {"fuse_unk", options.fuse_unk},
                                     {"ignore_merges", options.ignore_merges}}) {
    const Result<bool> read = node.boolean_or(key, false);
    if (!read.ok()) return read.error();
    value = *read;
  }
  if (node.member("unk_token")) {
    const Result<std::string> unk = node.text("unk_token");
    if (!unk.ok()) return unk.error();
    options.unk_token = *unk;
  }
  const Result<std::string> prefix = node.text_or("continuing_subword_prefix", "");
  if (!prefix.ok()) return prefix.error();
  const Result<std::string> suffix = node.text_or("end_of_word_suffix", "");
  if (!suffix.ok()) return suffix.error();
  options.continuing_subword_prefix = *prefix;
  options.end_of_word_suffix = *suffix;
  if (byte_words && !(prefix->empty() && suffix->empty())) {
    return node.unsupported("prefixes and suffixes in a byte-level model");
  }
  const Result<VocabularyPtr> vocabulary = read_vocabulary(node);
  if (!vocabulary.ok()) return vocabulary.error();
  const Result<std::vector<BpeMerge>> merges = read_merges(node, **vocabulary, *prefix);
  if (!merges.ok()) return merges.error();
  // Byte-level files name unknown tokens that are part of no vocabulary and never needed.
  if (byte_words && options.unk_token && (*vocabulary)->find(*options.unk_token) < 0) {
    options.unk_token.reset();
  }
  Result<ModelPtr> model = make_bpe(*vocabulary, *merges, std::move(options));
  if (!model.ok()) return node.malformed(model.error().message);
  return model;
}

Result<ModelPtr> read_word_piece(const JsonNode& node) {
  WordPieceOptions options;
  const Result<std::string> unk = node.text_or("unk_token", options.unk_token);
  if (!unk.ok()) return unk.error();
  const Result<std::string> prefix =
      node.text_or("continuing_subword_prefix", options.continuing_subword_prefix);
  if (!prefix.ok()) return prefix.error();
  const Result<int64_t> longest =
      node.integer_or("max_input_chars_per_word", options.max_input_chars_per_word);
  if (!longest.ok()) return longest.error();
  options = {*unk, *prefix, *longest};
  const Result<VocabularyPtr> vocabulary = read_vocabulary(node);
  if (!vocabulary.ok()) return vocabulary.error();
  Result<ModelPtr> model = make_word_piece(*vocabulary, options);
  if (!model.ok()) return node.malformed(model.error().message);
  return model;
}

Result<ModelPtr> read_unigram(const JsonNode& node) {
  const std::optional<JsonNode> list = node.member("vocab");
  if (!list || !list->value().is_array()) return node.malformed("the member 'vocab' is no list");
  std::vector<std::pair<std::string, int64_t>> entries;
  std::vector<double> scores;
  for (const json& item : list->value()) {
    if (!item.is_array() || item.size() != 2 || !item[0].is_string() || !item[1].is_number()) {
      return list->malformed("item " + std::to_string(entries.size()) +
                             " is not a piece and its score");
    }
    entries.emplace_back(item[0].get<std::string>(), static_cast<int64_t>(entries.size()));
    scores.push_back(item[1].get<double>());
  }
  UnigramOptions options;
  const Result<int64_t> unk = node.integer("unk_id");
  if (!unk.ok()) return unk.error();
  if (*unk < 0 || *unk >= static_cast<int64_t>(entries.size())) {
    return node.malformed("unk_id " + std::to_string(*unk) + " is not in the vocabulary");
  }
  options.unk_id = static_cast<int32_t>(*unk);
  const Result<bool> bytes = node.boolean_or("byte_fallback", false);
  if (!bytes.ok()) return bytes.error();
  options.byte_fallback = *bytes;
  const Result<VocabularyPtr> vocabulary = Vocabulary::make(std::move(entries));
  if (!vocabulary.ok()) return list->malformed(vocabulary.error().message);
  Result<ModelPtr> model = make_unigram(*vocabulary, std::move(scores), options);
  if (!model.ok()) return node.malformed(model.error().message);
  return model;
}

/// Older files leave the type out; what they have tells.
std::string model_type(const JsonNode& node) {
  if (node.member("merges")) return "BPE";
  return node.member("vocab") && node.member("vocab")->value().is_array() ? "Unigram" : "WordPiece";
}

}  // namespace

Result<ModelPtr> read_model(const JsonNode& node, bool byte_words) {
  const Result<std::string> type = node.text_or("type", model_type(node));
  if (!type.ok()) return type.error();
  if (*type == "BPE") return read_bpe(node, byte_words);
  if (*type == "WordPiece") return read_word_piece(node);
  if (*type == "Unigram") return read_unigram(node);
  return node.unsupported("the model '" + *type + "'");
}

Result<std::vector<AddedToken>> read_added_tokens(const JsonNode& root) {
  const Result<std::vector<JsonNode>> items = root.items("added_tokens");
  if (!items.ok()) return items.error();
  std::vector<AddedToken> tokens;
  for (const JsonNode& item : *items) {
    AddedToken token;
    const Result<int64_t> id = item.integer("id");
    if (!id.ok()) return id.error();
    if (*id < 0 || *id >= kMaxVocabulary) return item.malformed("the id is impossible");
    token.id = static_cast<int32_t>(*id);
    const Result<std::string> content = item.text("content");
    if (!content.ok()) return content.error();
    token.content = *content;
    const Result<bool> special = item.boolean_or("special", false);
    if (!special.ok()) return special.error();
    token.special = *special;
    struct Switch {
      std::string_view key;
      bool& value;
      bool fallback;
    };
    for (const auto& [key, value, fallback] :
         std::initializer_list<Switch>{{"single_word", token.single_word, false},
                                       {"lstrip", token.lstrip, false},
                                       {"rstrip", token.rstrip, false},
                                       {"normalized", token.normalized, !token.special}}) {
      const Result<bool> read = item.boolean_or(key, fallback);
      if (!read.ok()) return read.error();
      value = *read;
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace qfs::tokenizers

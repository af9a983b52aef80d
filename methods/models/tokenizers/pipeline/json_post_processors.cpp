#include <nlohmann/json.hpp>
#include <utility>

#include "methods/models/tokenizers/pipeline/json_parts.h"

namespace qfs::tokenizers {

namespace {

using nlohmann::json;

Result<int32_t> checked_id(const JsonNode& node, int64_t id) {
  if (id < 0 || id >= kMaxVocabulary) return node.malformed("the id is impossible");
  return static_cast<int32_t>(id);
}

/// ["[SEP]", 102].
Result<TemplatePart> read_token_pair(const JsonNode& node, std::string_view key) {
  const std::optional<JsonNode> member = node.member(key);
  if (!member || !member->value().is_array() || member->value().size() != 2 ||
      !member->value()[1].is_number_integer()) {
    return node.malformed("the member '" + std::string(key) + "' is not a token and its id");
  }
  const Result<int32_t> id = checked_id(*member, member->value()[1].get<int64_t>());
  if (!id.ok()) return id.error();
  return TemplatePart{-1, {*id}, 0};
}

/// BERT's and RoBERTa's: [CLS] A [SEP], and a second text behind.
Result<InputTemplate> read_pair_processor(const JsonNode& node, bool roberta) {
  const Result<TemplatePart> cls = read_token_pair(node, "cls");
  if (!cls.ok()) return cls.error();
  const Result<TemplatePart> sep = read_token_pair(node, "sep");
  if (!sep.ok()) return sep.error();
  InputTemplate result;
  result.single = {*cls, {0, {}, 0}, *sep};
  result.pair = result.single;
  if (roberta) result.pair.push_back(*sep);
  const int32_t type = roberta ? 0 : 1;
  result.pair.push_back({1, {}, type});
  result.pair.push_back({-1, sep->ids, type});
  return result;
}

Result<TemplatePart> read_template_part(const JsonNode& item, const JsonNode& node) {
  TemplatePart part;
  const bool is_text = item.member("Sequence").has_value();
  const std::optional<JsonNode> body = item.member(is_text ? "Sequence" : "SpecialToken");
  if (!body) return item.unsupported("this part of a template");
  const Result<int64_t> type = body->integer_or("type_id", 0);
  if (!type.ok()) return type.error();
  if (*type < 0 || *type > 1000) return body->malformed("the type_id is impossible");
  part.type_id = static_cast<int32_t>(*type);
  const Result<std::string> id = body->text("id");
  if (!id.ok()) return id.error();
  if (is_text) {
    if (*id != "A" && *id != "B")
      return body->malformed("the sequence '" + *id + "' is not A or B");
    part.sequence = *id == "A" ? 0 : 1;
    return part;
  }
  const std::optional<JsonNode> tokens = node.member("special_tokens");
  const std::optional<JsonNode> token = tokens ? tokens->member(*id) : std::nullopt;
  if (!token) return body->malformed("'" + *id + "' is not among the special_tokens");
  const Result<std::vector<JsonNode>> ids = token->items("ids");
  if (!ids.ok()) return ids.error();
  for (const JsonNode& value : *ids) {
    if (!value.value().is_number_integer()) return value.malformed("the id is no integer");
    const Result<int32_t> number = checked_id(value, value.value().get<int64_t>());
    if (!number.ok()) return number.error();
    part.ids.push_back(*number);
  }
  return part;
}

Result<std::vector<TemplatePart>> read_template_parts(const JsonNode& node, std::string_view key) {
  const Result<std::vector<JsonNode>> items = node.items(key);
  if (!items.ok()) return items.error();
  std::vector<TemplatePart> parts;
  for (const JsonNode& item : *items) {
    Result<TemplatePart> part = read_template_part(item, node);
    if (!part.ok()) return part.error();
    parts.push_back(*std::move(part));
  }
  if (parts.empty()) return node.malformed("the template '" + std::string(key) + "' is empty");
  return parts;
}

Result<InputTemplate> read_template(const JsonNode& node) {
  InputTemplate result;
  Result<std::vector<TemplatePart>> single = read_template_parts(node, "single");
  if (!single.ok()) return single.error();
  result.single = *std::move(single);
  Result<std::vector<TemplatePart>> pair = read_template_parts(node, "pair");
  if (!pair.ok()) return pair.error();
  result.pair = *std::move(pair);
  return result;
}

/// Of several processors at most one puts tokens in; ByteLevel only moves offsets, which stay here.
Result<InputTemplate> read_post_processors(const JsonNode& node) {
  const Result<std::vector<JsonNode>> items = node.items("processors");
  if (!items.ok()) return items.error();
  InputTemplate result;
  bool found = false;
  for (const JsonNode& item : *items) {
    const Result<std::string> type = item.type();
    if (!type.ok()) return type.error();
    if (*type == "ByteLevel") continue;
    if (found) return item.unsupported("several post-processors that put tokens in");
    found = true;
    Result<InputTemplate> part = read_post_processor(item);
    if (!part.ok()) return part;
    result = *std::move(part);
  }
  return result;
}

}  // namespace

Result<InputTemplate> read_post_processor(const JsonNode& node) {
  const Result<std::string> type = node.type();
  if (!type.ok()) return type.error();
  if (*type == "TemplateProcessing") return read_template(node);
  if (*type == "BertProcessing") return read_pair_processor(node, false);
  if (*type == "RobertaProcessing") return read_pair_processor(node, true);
  if (*type == "ByteLevel") return InputTemplate();
  if (*type == "Sequence") return read_post_processors(node);
  return node.unsupported("the post-processor '" + *type + "'");
}

}  // namespace qfs::tokenizers

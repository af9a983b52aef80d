#include "methods/models/tokenizers/pipeline/json_node.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace qfs::tokenizers {

using nlohmann::json;

std::optional<JsonNode> JsonNode::member(std::string_view key) const {
  if (!value_->is_object()) return std::nullopt;
  const auto it = value_->find(std::string(key));
  if (it == value_->end() || it->is_null()) return std::nullopt;
  return JsonNode(*it, *source_, pointer_ + "/" + std::string(key));
}

Result<std::vector<JsonNode>> JsonNode::items() const {
  if (!value_->is_array()) return malformed("the value is no list");
  std::vector<JsonNode> nodes;
  nodes.reserve(value_->size());
  for (const json& item : *value_) {
    nodes.emplace_back(item, *source_, pointer_ + "/" + std::to_string(nodes.size()));
  }
  return nodes;
}

Result<std::vector<JsonNode>> JsonNode::items(std::string_view key) const {
  const std::optional<JsonNode> node = member(key);
  if (!node) return std::vector<JsonNode>();
  return node->items();
}

Result<std::string> JsonNode::text(std::string_view key) const {
  const std::optional<JsonNode> node = member(key);
  if (!node) return malformed("the member '" + std::string(key) + "' is missing");
  if (!node->value().is_string()) return node->malformed("the value is no text");
  return node->value().get<std::string>();
}

Result<std::string> JsonNode::text_or(std::string_view key, std::string fallback) const {
  return member(key) ? text(key) : Result<std::string>(std::move(fallback));
}

Result<bool> JsonNode::boolean_or(std::string_view key, bool fallback) const {
  const std::optional<JsonNode> node = member(key);
  if (!node) return fallback;
  if (!node->value().is_boolean()) return node->malformed("the value is not true or false");
  return node->value().get<bool>();
}

Result<int64_t> JsonNode::integer(std::string_view key) const {
  const std::optional<JsonNode> node = member(key);
  if (!node) return malformed("the member '" + std::string(key) + "' is missing");
  const json& value = node->value();
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX})) {
    return node->malformed("the value is no integer");
  }
  return value.get<int64_t>();
}

Result<int64_t> JsonNode::integer_or(std::string_view key, int64_t fallback) const {
  return member(key) ? integer(key) : Result<int64_t>(fallback);
}

Error JsonNode::malformed(std::string message) const {
  return data_error(std::move(message), place());
}

Error JsonNode::unsupported(std::string what) const {
  return unavailable("this program does not have " + std::move(what), place());
}

}  // namespace qfs::tokenizers

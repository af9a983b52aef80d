// JsonNode: a value of a tokenizer.json with its place, so that every complaint names the JSON
// pointer.
//
// Used by the readers of its parts. A view: the document must outlive it. Not for other callers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"

namespace qfs::tokenizers {

class JsonNode {
 public:
  JsonNode(const nlohmann::json& value, const std::string& source, std::string pointer = {})
      : value_(&value), source_(&source), pointer_(std::move(pointer)) {}

  const nlohmann::json& value() const { return *value_; }
  /// "file#/pointer".
  std::string place() const { return *source_ + "#" + pointer_; }

  /// The member; std::nullopt when it is absent or null.
  std::optional<JsonNode> member(std::string_view key) const;
  /// The items of an array, or an error.
  Result<std::vector<JsonNode>> items() const;
  /// The items of the array under a key; none when it is absent.
  Result<std::vector<JsonNode>> items(std::string_view key) const;

  Result<std::string> text(std::string_view key) const;
  Result<std::string> text_or(std::string_view key, std::string fallback) const;
  Result<bool> boolean_or(std::string_view key, bool fallback) const;
  Result<int64_t> integer(std::string_view key) const;
  Result<int64_t> integer_or(std::string_view key, int64_t fallback) const;
  /// The member `type`.
  Result<std::string> type() const { return text("type"); }

  Error malformed(std::string message) const;
  /// A construct that this program does not have.
  Error unsupported(std::string what) const;

 private:
  const nlohmann::json* value_;
  const std::string* source_;
  std::string pointer_;
};

}  // namespace qfs::tokenizers

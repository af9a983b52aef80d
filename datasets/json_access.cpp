#include "datasets/json_access.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "harness/core/suggest.h"

namespace qfs::datasets {
namespace {

constexpr size_t kFieldsShown = 12;

std::string pointer_token(std::string_view token) {
  std::string escaped = "/";
  for (char c : token) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

JsonPlace JsonPlace::operator/(std::string_view token) const {
  return {where, pointer + pointer_token(token)};
}

JsonPlace JsonPlace::operator/(size_t index) const {
  return {where, pointer + "/" + std::to_string(index)};
}

std::string JsonPlace::to_string() const { return pointer.empty() ? where : where + "#" + pointer; }

std::string_view describe_type(const nlohmann::json& value) {
  switch (value.type()) {
    case nlohmann::json::value_t::null:
      return "null";
    case nlohmann::json::value_t::boolean:
      return "true or false";
    case nlohmann::json::value_t::string:
      return "text";
    case nlohmann::json::value_t::array:
      return "a list";
    case nlohmann::json::value_t::object:
      return "an object";
    default:
      return "a number";
  }
}

std::string list_fields(const nlohmann::json& object) {
  if (object.empty()) return "none";
  std::string names;
  size_t shown = 0;
  for (const auto& item : object.items()) {
    if (shown == kFieldsShown) return names + ", …";
    if (shown++ > 0) names += ", ";
    names += item.key();
  }
  return names;
}

Result<const nlohmann::json*> member(const nlohmann::json& object, std::string_view key,
                                     const JsonPlace& place) {
  if (!object.is_object()) {
    return data_error("expected an object with the field '" + std::string(key) + "', found " +
                          std::string(describe_type(object)),
                      place.to_string());
  }
  auto found = object.find(key);
  if (found != object.end()) return &*found;
  std::vector<std::string> names;
  for (const auto& item : object.items()) names.push_back(item.key());
  std::string near;
  if (auto nearest = nearest_name(key, names)) near = " (did you mean '" + *nearest + "'?)";
  return data_error("missing field '" + std::string(key) + "'" + near +
                        "; the fields there are: " + list_fields(object),
                    place.to_string());
}

Result<std::string> text_member(const nlohmann::json& object, std::string_view key,
                                const JsonPlace& place) {
  Result<const nlohmann::json*> found = member(object, key, place);
  if (!found) return found.error();
  const nlohmann::json& value = **found;
  if (!value.is_string()) {
    return data_error(
        "field '" + std::string(key) + "' must be text, found " + std::string(describe_type(value)),
        (place / key).to_string());
  }
  return value.get<std::string>();
}

Result<const nlohmann::json*> list_member(const nlohmann::json& object, std::string_view key,
                                          const JsonPlace& place) {
  Result<const nlohmann::json*> found = member(object, key, place);
  if (!found) return found;
  if (!(*found)->is_array()) {
    return data_error("field '" + std::string(key) + "' must be a list, found " +
                          std::string(describe_type(**found)),
                      (place / key).to_string());
  }
  return found;
}

Result<nlohmann::json> parse_json_line(std::string_view line, const std::string& where) {
  std::string scratch;
  return parse_json_line(line, where, scratch);
}

Result<nlohmann::json> parse_json_line(std::string_view line, const std::string& where,
                                       std::string& scratch) {
  Result<nlohmann::json> value = parse_json(line, "line", scratch);
  if (value) return value;
  // The parser's place is "line:1:column"; the reader of the file wants the file's own line.
  Error error = std::move(value).error();
  size_t colon = error.where.rfind(':');
  error.where = colon == std::string::npos ? where : where + error.where.substr(colon);
  return error;
}

}  // namespace qfs::datasets

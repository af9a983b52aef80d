#include "datasets/readers/field_map.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/core/suggest.h"
#include "harness/core/whole_number.h"

namespace qfs::datasets {
namespace {

/// One step into an object (key) or a list (index).
const nlohmann::json* step(const nlohmann::json& value, const std::string& token) {
  if (value.is_object()) {
    auto found = value.find(token);
    return found == value.end() ? nullptr : &*found;
  }
  if (!value.is_array()) return nullptr;
  const auto index = whole_number<size_t>(token);
  return index && *index < value.size() ? &value[*index] : nullptr;
}

std::string unescape_pointer(std::string_view token) {
  std::string text;
  for (size_t i = 0; i < token.size(); ++i) {
    bool escape = token[i] == '~' && i + 1 < token.size();
    if (escape && (token[i + 1] == '0' || token[i + 1] == '1')) {
      text += token[++i] == '0' ? '~' : '/';
    } else {
      text += token[i];
    }
  }
  return text;
}

const nlohmann::json* follow(const nlohmann::json& record, std::string_view path, char separator) {
  const nlohmann::json* value = &record;
  for (size_t begin = 0; value != nullptr && begin <= path.size();) {
    size_t end = std::min(path.find(separator, begin), path.size());
    std::string_view token = path.substr(begin, end - begin);
    value = step(*value, separator == '/' ? unescape_pointer(token) : std::string(token));
    begin = end + 1;
  }
  return value;
}

}  // namespace

Result<FieldMap> make_field_map(const std::map<std::string, std::string>& chosen) {
  FieldMap map = {{"document", {"document", true}},        {"query", {"query", true}},
                  {"references", {"references", true}},    {"id", {"id", false}},
                  {"document_id", {"document_id", false}}, {"group", {"group", false}},
                  {"language", {"language", false}}};
  std::vector<std::string> known;
  for (const auto& [field, rule] : map) known.push_back(field);
  for (const auto& [field, name] : chosen) {
    auto rule = map.find(field);
    if (rule == map.end()) {
      return invalid_argument("unknown field '" + field + "' in a field map" +
                              suggestion(field, known));
    }
    rule->second = {name, !name.empty()};
  }
  if (map.find("document")->second.name.empty()) {
    return invalid_argument("the field map says that there is no document; name its field");
  }
  return map;
}

std::map<std::string, std::string> field_names(const FieldMap& map) {
  std::map<std::string, std::string> names;
  for (const auto& [field, rule] : map) names[field] = rule.name;
  return names;
}

const nlohmann::json* find_field(const nlohmann::json& record, std::string_view name) {
  if (!record.is_object()) return nullptr;
  auto direct = record.find(name);
  if (direct != record.end()) return &*direct;
  if (name.starts_with('/')) return follow(record, name.substr(1), '/');
  return name.find('.') == name.npos ? nullptr : follow(record, name, '.');
}

}  // namespace qfs::datasets

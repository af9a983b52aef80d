#include "harness/config/variables.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "harness/core/json_dom.h"
#include "harness/core/suggest.h"
#include "harness/core/whole_number.h"

namespace qfs::config {

using nlohmann::json;

namespace {

bool is_variable_name(std::string_view name) {
  if (name.empty()) return false;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool later = (c >= '0' && c <= '9') || c == '-';
    if (!letter && !(i > 0 && later)) return false;
  }
  return true;
}

std::vector<std::string> names_of(const json& variables) {
  std::vector<std::string> names;
  for (const auto& [name, value] : variables.items()) names.push_back(name);
  return names;
}

/// `text` as a value of the type that `declared` has.
std::optional<json> typed_override(const json& declared, const std::string& text) {
  if (declared.is_string()) return json(text);
  if (declared.is_boolean()) {
    if (text == "true" || text == "false") return json(text == "true");
    return std::nullopt;
  }
  if (declared.is_number_integer()) {
    if (const auto number = whole_number<int64_t>(text)) return json(*number);
    return std::nullopt;
  }
  if (const auto number = whole_number<double>(text)) return json(*number);
  return std::nullopt;
}

class Substitution {
 public:
  Substitution(const json& variables, Scope& scope) : variables_(variables), scope_(scope) {}

  json apply(const json& value, const std::string& pointer) {
    if (value.is_string()) return in_text(value.get_ref<const std::string&>(), pointer);
    if (value.is_array()) {
      json list = json::array();
      for (size_t i = 0; i < value.size(); ++i) {
        list.push_back(apply(value[i], pointer + "/" + std::to_string(i)));
      }
      return list;
    }
    if (value.is_object()) {
      json object = json::object();
      for (const auto& [key, member] : value.items()) {
        object[key] = apply(member, pointer + "/" + pointer_token(key));
      }
      return object;
    }
    return value;
  }

  const std::set<std::string>& used() const { return used_; }

 private:
  json in_text(const std::string& text, const std::string& pointer) {
    std::string replaced;
    size_t at = 0;
    while (true) {
      const size_t begin = text.find("${", at);
      if (begin == std::string::npos) break;
      if (begin > at && text[begin - 1] == '$') {
        replaced += text.substr(at, begin - 1 - at) + "${";
        at = begin + 2;
        continue;
      }
      const size_t end = text.find('}', begin);
      if (end == std::string::npos) {
        fail(pointer, "'${' without '}' (a literal '${' is written '$${')");
        return text;
      }
      const std::string name = text.substr(begin + 2, end - begin - 2);
      const auto it = variables_.find(name);
      if (it == variables_.end()) {
        fail(pointer, "unknown variable '" + name + "'" + suggestion(name, names_of(variables_)));
        return text;
      }
      used_.insert(name);
      if (begin == 0 && end + 1 == text.size()) return *it;
      replaced += text.substr(at, begin - at) + variable_text(*it);
      at = end + 1;
    }
    return replaced + text.substr(at);
  }

  void fail(const std::string& pointer, std::string message) {
    static const json kNothing;
    Node(kNothing, pointer, scope_).fail(std::move(message));
  }

  const json& variables_;
  Scope& scope_;
  std::set<std::string> used_;
};

}  // namespace

std::string variable_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return shortest_decimal(value.get<double>());
  return value.dump();
}

json read_variables(const Node& root, const std::map<std::string, std::string>& overrides) {
  json variables = json::object();
  const std::optional<Node> node = root.find("variables");
  if (node && node->is_object("an object of variables and their values")) {
    for (const auto& [name, member] : node->members()) {
      if (!is_variable_name(name)) {
        member.fail("'" + name +
                    "' is not a variable name (a letter or '_', then letters, digits, '_', '-')");
      }
      member.scalar("a text, a number or a boolean as the variable's value");
      variables[name] = member.value();
    }
  }
  const Node place = node.value_or(root);
  for (const auto& [name, text] : overrides) {
    if (root.scope().failure) break;
    const auto it = variables.find(name);
    if (it == variables.end()) {
      place.fail("--set " + name + "=" + text + ": the file declares no variable '" + name + "'" +
                 suggestion(name, names_of(variables)));
      break;
    }
    const std::optional<json> value = typed_override(*it, text);
    if (!value) {
      place.fail("--set " + name + "=" + text + ": the variable's value in the file is " +
                 std::string(kind_of(*it)) + ", and this does not read as one");
      break;
    }
    *it = *value;
  }
  for (const auto& [name, value] : variables.items()) {
    if (value.is_string() && value.get_ref<const std::string&>().find("${") != std::string::npos) {
      place.fail("variable '" + name + "' holds '${': variables do not refer to one another");
    }
  }
  return variables;
}

json substitute(const Node& root, const json& variables,
                const std::map<std::string, std::string>& overrides) {
  Substitution substitution(variables, root.scope());
  json replaced = json::object();
  for (const auto& [key, member] : root.members()) {
    const bool literal = key == "variables" || key == "$schema";
    replaced[key] = literal ? member.value() : substitution.apply(member.value(), member.pointer());
  }
  for (const auto& [name, text] : overrides) {
    if (!substitution.used().contains(name)) {
      root.fail("--set " + name + "=" + text + " changes nothing: '${" + name +
                "}' is used nowhere in the file");
    }
  }
  return replaced;
}

}  // namespace qfs::config

#include "harness/config/node.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/suggest.h"

namespace qfs::config {

using nlohmann::json;

namespace {

constexpr size_t kMostItems = 4096;  // of one list; comparing items with one another stays cheap
constexpr int64_t kMinInteger = std::numeric_limits<int64_t>::min();
constexpr int64_t kMaxInteger = std::numeric_limits<int64_t>::max();

std::string integer_range(int64_t minimum, int64_t maximum) {
  if (minimum == kMinInteger && maximum == kMaxInteger) return "an integer of 64 bits";
  return "an integer from " + std::to_string(minimum) + " to " +
         (maximum == kMaxInteger ? "2^63-1" : std::to_string(maximum));
}

}  // namespace

std::string pointer_token(std::string_view key) {
  std::string token;
  for (char c : key) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else {
      token += c;
    }
  }
  return token;
}

std::string_view kind_of(const json& value) {
  switch (value.type()) {
    case json::value_t::null:
      return "null";
    case json::value_t::boolean:
      return "a boolean";
    case json::value_t::number_integer:
    case json::value_t::number_unsigned:
      return "an integer";
    case json::value_t::number_float:
      return "a number with a fraction or exponent";
    case json::value_t::string:
      return "a text";
    case json::value_t::array:
      return "a list";
    case json::value_t::object:
      return "an object";
    default:
      return "no JSON value";
  }
}

void Node::fail(std::string message, ErrorKind kind) const {
  if (scope_->failure) return;
  scope_->failure = Error{kind, std::move(message), scope_->file + "#" + pointer_};
}

bool Node::is_object(std::string_view expected) const {
  if (value_->is_object()) return true;
  fail("expected " + std::string(expected) + ", found " + std::string(kind_of(*value_)));
  return false;
}

void Node::only_keys(std::span<const std::string_view> keys) const {
  for (const auto& [key, member] : members()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    const std::vector<std::string> candidates(keys.begin(), keys.end());
    member.fail("unknown key '" + key + "'" + suggestion(key, candidates));
    return;
  }
}

std::optional<Node> Node::find(std::string_view key) const {
  if (!value_->is_object()) return std::nullopt;
  const auto it = value_->find(std::string(key));
  if (it == value_->end()) return std::nullopt;
  return Node(*it, pointer_ + "/" + pointer_token(key), *scope_);
}

std::optional<Node> Node::require(std::string_view key) const {
  std::optional<Node> member = find(key);
  if (!member && value_->is_object()) fail("missing key '" + std::string(key) + "'");
  return member;
}

std::vector<std::pair<std::string, Node>> Node::members() const {
  std::vector<std::pair<std::string, Node>> members;
  if (!value_->is_object()) return members;
  for (const auto& [key, value] : value_->items()) {
    members.emplace_back(key, Node(value, pointer_ + "/" + pointer_token(key), *scope_));
  }
  return members;
}

std::vector<Node> Node::items(std::string_view expected) const {
  std::vector<Node> items;
  if (!value_->is_array()) {
    fail("expected " + std::string(expected) + ", found " + std::string(kind_of(*value_)));
    return items;
  }
  if (value_->empty()) fail("the list is empty; expected " + std::string(expected));
  if (value_->size() > kMostItems) {
    fail("the list has " + std::to_string(value_->size()) + " items; at most " +
         std::to_string(kMostItems) + " are allowed");
    return items;
  }
  for (size_t i = 0; i < value_->size(); ++i) {
    items.emplace_back((*value_)[i], pointer_ + "/" + std::to_string(i), *scope_);
  }
  return items;
}

std::string Node::text(std::string_view expected) const {
  if (!value_->is_string()) {
    fail("expected " + std::string(expected) + ", found " + std::string(kind_of(*value_)));
    return {};
  }
  const std::string& text = value_->get_ref<const std::string&>();
  if (text.empty()) fail("expected " + std::string(expected) + ", found an empty one");
  return text;
}

std::string Node::choice(std::span<const std::string_view> choices) const {
  std::string text = this->text();
  if (!text.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) {
    const std::vector<std::string> candidates(choices.begin(), choices.end());
    fail("'" + text + "' is not a valid value" + suggestion(text, candidates));
  }
  return text;
}

int64_t Node::integer(int64_t minimum, int64_t maximum) const {
  constexpr auto kLargest = static_cast<uint64_t>(kMaxInteger);
  const std::string range = integer_range(minimum, maximum);
  if (!value_->is_number_integer()) {
    fail("expected " + range + ", found " + std::string(kind_of(*value_)));
    return minimum;
  }
  const bool too_large = value_->is_number_unsigned() && value_->get<uint64_t>() > kLargest;
  const int64_t number = too_large ? 0 : value_->get<int64_t>();
  if (too_large || number < minimum || number > maximum) {
    fail("expected " + range + ", found " + value_->dump());
    return minimum;
  }
  return number;
}

bool Node::boolean() const {
  if (!value_->is_boolean()) {
    fail("expected true or false, found " + std::string(kind_of(*value_)));
    return false;
  }
  return value_->get<bool>();
}

ParamValue Node::scalar(std::string_view expected) const {
  if (value_->is_boolean()) return value_->get<bool>();
  if (value_->is_string()) return value_->get<std::string>();
  if (value_->is_number_float()) return value_->get<double>();
  if (value_->is_number_integer()) {
    return integer(kMinInteger, kMaxInteger);
  }
  fail("expected " + std::string(expected) + ", found " + std::string(kind_of(*value_)));
  return std::string();
}

std::vector<std::string> Node::names(std::string_view expected) const {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Node& item : items(expected)) {
    std::string name = item.text();
    if (!seen.insert(name).second) item.fail("'" + name + "' is listed twice");
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace qfs::config

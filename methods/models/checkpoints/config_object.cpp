#include "methods/models/checkpoints/config_object.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/json_dom.h"
#include "harness/core/suggest.h"

namespace qfs::checkpoints {

namespace {

using nlohmann::json;

constexpr size_t kMaxConfigBytes = size_t{16} << 20;

std::optional<int64_t> as_integer(const json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}) return {};
  if (value.is_number_integer()) return value.get<int64_t>();
  return {};
}

std::optional<double> as_real(const json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) return {};
  return value.get<double>();
}

}  // namespace

ConfigObject::ConfigObject(std::shared_ptr<const json> root, const json* value, std::string source,
                           std::string pointer)
    : root_(std::move(root)),
      value_(value),
      source_(std::move(source)),
      pointer_(std::move(pointer)) {}

Result<ConfigObject> ConfigObject::parse(std::string_view text, std::string source) {
  Result<json> parsed =
      parse_json(text, source, {.max_bytes = kMaxConfigBytes, .python_numbers = true});
  if (!parsed.ok()) return parsed.error();
  if (!parsed->is_object()) return data_error("the file is no JSON object", std::move(source));
  auto root = std::make_shared<const json>(*std::move(parsed));
  const json* value = root.get();
  return ConfigObject(std::move(root), value, std::move(source), "");
}

Result<ConfigObject> ConfigObject::read(const std::string& path) {
  const Result<std::string> text = read_file(path, kMaxConfigBytes);
  if (!text.ok()) return text.error();
  return parse(*text, path);
}

ConfigObject ConfigObject::empty(std::string source) {
  auto root = std::make_shared<const json>(json::object());
  const json* value = root.get();
  return ConfigObject(std::move(root), value, std::move(source), "");
}

const json* ConfigObject::find(std::string_view key) const {
  const auto it = value_->find(std::string(key));
  return it == value_->end() || it->is_null() ? nullptr : &*it;
}

bool ConfigObject::has(std::string_view key) const { return find(key) != nullptr; }

bool ConfigObject::mentions(std::string_view key) const {
  return value_->contains(std::string(key));
}

bool ConfigObject::empty_list(std::string_view key) const {
  const json* value = find(key);
  return value != nullptr && value->is_array() && value->empty();
}

std::vector<std::string> ConfigObject::keys() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : value_->items()) {
    if (!value.is_null()) names.push_back(name);
  }
  return names;
}

std::string ConfigObject::place(std::string_view key) const {
  return source_ + "#" + pointer_ + "/" + std::string(key);
}

Error ConfigObject::missing(std::string_view key) const {
  return data_error("the key '" + std::string(key) + "' is missing" + suggestion(key, keys()),
                    source_ + "#" + pointer_);
}

Error ConfigObject::mismatch(std::string_view key, std::string_view expected) const {
  std::string shown = find(key)->dump(-1, ' ', true);
  if (shown.size() > 100) shown = shown.substr(0, 100) + "…";
  return data_error(shown + " is not " + std::string(expected), place(key));
}

Result<int64_t> ConfigObject::integer(std::string_view key, int64_t minimum,
                                      int64_t maximum) const {
  const json* value = find(key);
  if (value == nullptr) return missing(key);
  const std::optional<int64_t> number = as_integer(*value);
  if (number && *number >= minimum && *number <= maximum) return *number;
  return mismatch(key,
                  "an integer from " + std::to_string(minimum) + " to " + std::to_string(maximum));
}

Result<double> ConfigObject::real(std::string_view key) const {
  const json* value = find(key);
  if (value == nullptr) return missing(key);
  if (const std::optional<double> number = as_real(*value)) return *number;
  return mismatch(key, "a finite number");
}

Result<std::string> ConfigObject::text(std::string_view key) const {
  const json* value = find(key);
  if (value == nullptr) return missing(key);
  if (value->is_string()) return value->get<std::string>();
  return mismatch(key, "a text");
}

Result<bool> ConfigObject::boolean(std::string_view key) const {
  const json* value = find(key);
  if (value == nullptr) return missing(key);
  if (value->is_boolean()) return value->get<bool>();
  return mismatch(key, "true or false");
}

Result<int64_t> ConfigObject::integer_or(std::string_view key, int64_t minimum, int64_t maximum,
                                         int64_t fallback) const {
  return has(key) ? integer(key, minimum, maximum) : Result<int64_t>(fallback);
}

Result<double> ConfigObject::real_or(std::string_view key, double fallback) const {
  return has(key) ? real(key) : Result<double>(fallback);
}

Result<std::string> ConfigObject::text_or(std::string_view key, std::string fallback) const {
  return has(key) ? text(key) : Result<std::string>(std::move(fallback));
}

Result<bool> ConfigObject::boolean_or(std::string_view key, bool fallback) const {
  return has(key) ? boolean(key) : Result<bool>(fallback);
}

Result<std::vector<int64_t>> ConfigObject::integers(std::string_view key) const {
  std::vector<int64_t> numbers;
  const json* value = find(key);
  if (value == nullptr) return numbers;
  for (const json& item : value->is_array() ? *value : json::array({*value})) {
    const std::optional<int64_t> number = as_integer(item);
    if (!number) return mismatch(key, "an integer or a list of integers");
    numbers.push_back(*number);
  }
  return numbers;
}

Result<std::vector<double>> ConfigObject::reals(std::string_view key) const {
  std::vector<double> numbers;
  const json* value = find(key);
  if (value == nullptr) return numbers;
  if (!value->is_array()) return mismatch(key, "a list of numbers");
  for (const json& item : *value) {
    const std::optional<double> number = as_real(item);
    if (!number) return mismatch(key, "a list of numbers");
    numbers.push_back(*number);
  }
  return numbers;
}

Result<std::vector<std::string>> ConfigObject::texts(std::string_view key) const {
  std::vector<std::string> texts;
  const json* value = find(key);
  if (value == nullptr) return texts;
  if (!value->is_array()) return mismatch(key, "a list of texts");
  for (const json& item : *value) {
    if (!item.is_string()) return mismatch(key, "a list of texts");
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

Result<std::vector<ConfigObject>> ConfigObject::objects(std::string_view key) const {
  std::vector<ConfigObject> objects;
  const json* value = find(key);
  if (value == nullptr) return objects;
  if (!value->is_array()) return mismatch(key, "a list of objects");
  for (size_t i = 0; i < value->size(); ++i) {
    if (!(*value)[i].is_object()) return mismatch(key, "a list of objects");
    objects.push_back(ConfigObject(root_, &(*value)[i], source_,
                                   pointer_ + "/" + std::string(key) + "/" + std::to_string(i)));
  }
  return objects;
}

Result<std::optional<ConfigObject>> ConfigObject::object(std::string_view key) const {
  const json* value = find(key);
  if (value == nullptr) return std::optional<ConfigObject>();
  if (!value->is_object()) return mismatch(key, "an object");
  return std::optional<ConfigObject>(
      ConfigObject(root_, value, source_, pointer_ + "/" + std::string(key)));
}

std::string ConfigObject::dump() const { return value_->dump(); }

}  // namespace qfs::checkpoints

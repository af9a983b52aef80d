#include "harness/host/json_fields.h"

#include <nlohmann/json.hpp>

#include "harness/core/json_dom.h"

namespace qfs::host {
namespace {

const nlohmann::json& field(const nlohmann::json& object, const char* name) {
  if (!object.is_object()) throw FieldError("expected an object with '" + std::string(name) + "'");
  auto it = object.find(name);
  if (it == object.end()) throw FieldError("missing '" + std::string(name) + "'");
  return *it;
}

[[noreturn]] void wrong_type(const char* name, const char* expected, const nlohmann::json& value) {
  throw FieldError("'" + std::string(name) + "' must be " + expected + ", not " +
                   value.type_name());
}

}  // namespace

const nlohmann::json& object_field(const nlohmann::json& object, const char* name) {
  const nlohmann::json& value = field(object, name);
  if (!value.is_object()) wrong_type(name, "an object", value);
  return value;
}

const nlohmann::json& array_field(const nlohmann::json& object, const char* name) {
  const nlohmann::json& value = field(object, name);
  if (!value.is_array()) wrong_type(name, "a list", value);
  return value;
}

std::string text_field(const nlohmann::json& object, const char* name) {
  const nlohmann::json& value = field(object, name);
  if (!value.is_string()) wrong_type(name, "a string", value);
  return value.get<std::string>();
}

std::string text_field_or(const nlohmann::json& object, const char* name, std::string fallback) {
  return object.contains(name) ? text_field(object, name) : std::move(fallback);
}

int64_t integer_field(const nlohmann::json& object, const char* name) {
  const nlohmann::json& value = field(object, name);
  if (!value.is_number_integer()) wrong_type(name, "an integer", value);
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}) {
    throw FieldError("'" + std::string(name) + "' is too large: " + value.dump());
  }
  return value.get<int64_t>();
}

int64_t integer_field_or(const nlohmann::json& object, const char* name, int64_t fallback) {
  return object.contains(name) ? integer_field(object, name) : fallback;
}

int64_t count_field(const nlohmann::json& object, const char* name, int bits) {
  const int64_t count = integer_field(object, name);
  if (count >= 0 && count <= int64_t{1} << bits) return count;
  throw FieldError("'" + std::string(name) + "' must be from 0 to 2^" + std::to_string(bits) +
                   ", not " + std::to_string(count));
}

int64_t count_field_or(const nlohmann::json& object, const char* name, int64_t fallback) {
  return object.contains(name) ? count_field(object, name) : fallback;
}

double real_field(const nlohmann::json& object, const char* name) {
  const nlohmann::json& value = field(object, name);
  if (!value.is_number()) wrong_type(name, "a number", value);
  return value.get<double>();
}

bool flag_field_or(const nlohmann::json& object, const char* name, bool fallback) {
  if (!object.contains(name)) return fallback;
  const nlohmann::json& value = field(object, name);
  if (!value.is_boolean()) wrong_type(name, "true or false", value);
  return value.get<bool>();
}

Json json_field_or_empty(const nlohmann::json& object, const char* name) {
  if (!object.contains(name)) return {};
  Result<Json> canonical = canonical_json(object_field(object, name));
  if (!canonical) throw FieldError("'" + std::string(name) + "': " + canonical.error().message);
  return *canonical;
}

nlohmann::json to_json(const ParamValue& value) {
  return std::visit([](const auto& v) { return nlohmann::json(v); }, value);
}

nlohmann::json parsed(const Json& json) { return nlohmann::json::parse(json.text); }

ParamValue param_value(const nlohmann::json& value, const std::string& name) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  throw FieldError("parameter '" + name + "' must be a plain value, not " + value.type_name());
}

ParamValue param_value(const nlohmann::json& value, ParamType type, const std::string& name) {
  switch (type) {
    case ParamType::boolean:
      if (value.is_boolean()) return value.get<bool>();
      break;
    case ParamType::integer:
      if (value.is_number_integer()) return value.get<int64_t>();
      break;
    case ParamType::real:
      if (value.is_number()) return value.get<double>();
      break;
    case ParamType::text:
      if (value.is_string()) return value.get<std::string>();
      break;
  }
  throw FieldError("parameter '" + name + "' must be of type " + std::string(to_string(type)) +
                   ", not " + value.type_name());
}

}  // namespace qfs::host

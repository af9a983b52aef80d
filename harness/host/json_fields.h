// Typed access to the members of a decoded message: a missing or ill-typed member throws
// FieldError, which the decoders of this folder catch at their border. Private to harness/host.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "harness/api/json.h"
#include "harness/api/params.h"

namespace qfs::host {

class FieldError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

const nlohmann::json& object_field(const nlohmann::json& object, const char* name);
const nlohmann::json& array_field(const nlohmann::json& object, const char* name);
std::string text_field(const nlohmann::json& object, const char* name);
std::string text_field_or(const nlohmann::json& object, const char* name, std::string fallback);
int64_t integer_field(const nlohmann::json& object, const char* name);
int64_t integer_field_or(const nlohmann::json& object, const char* name, int64_t fallback);
/// What cannot be negative; at most 2^`bits`, by default what every reader of JSON represents.
int64_t count_field(const nlohmann::json& object, const char* name, int bits = 53);
int64_t count_field_or(const nlohmann::json& object, const char* name, int64_t fallback);
double real_field(const nlohmann::json& object, const char* name);
bool flag_field_or(const nlohmann::json& object, const char* name, bool fallback);
Json json_field_or_empty(const nlohmann::json& object, const char* name);

nlohmann::json to_json(const ParamValue& value);
/// The value in the type that its JSON form has; `name` is for the error of lists and objects.
ParamValue param_value(const nlohmann::json& value, const std::string& name);
/// The value in a declared type (an integer is accepted for a real).
ParamValue param_value(const nlohmann::json& value, ParamType type, const std::string& name);

/// Parses a Json of the api, which is well-formed by construction.
nlohmann::json parsed(const Json& json);

}  // namespace qfs::host

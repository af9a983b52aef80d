// Functions that a template can call, and values made of JSON.
//
// Used by ChatProgram. Pure but for what is given; thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "methods/models/prompting/jinja/value.h"

namespace qfs::prompting::jinja {

/// range, namespace, dict, raise_exception, strftime_now (of `date`, "2026-11-21"; without one it
/// is an unsupported construct).
Dict template_functions(const std::optional<std::string>& date);

/// JSON of a user, members in their order: all texts are plain.
Value value_of(const nlohmann::ordered_json& json);

}  // namespace qfs::prompting::jinja

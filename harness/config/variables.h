// Variables of a sweep file: `${name}` in its texts, replaced before anything is decoded.
//
// A text that is exactly "${name}" becomes the variable's value with its type; inside a longer text
// the value's text form is put in. "$${" is a literal "${". Used by harness/config only;
// thread-safe.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/api/result.h"
#include "harness/config/node.h"

namespace qfs::config {

/// The member "variables" of the sweep file `root` with `overrides` applied, as a JSON object.
/// Failures (a value that is no scalar, an override of an undeclared variable, an override that
/// does not read as the declared type) go to the scope.
nlohmann::json read_variables(const Node& root,
                              const std::map<std::string, std::string>& overrides);

/// `root` with every variable replaced, "variables" and "$schema" left alone. A variable that does
/// not exist, a "${" without "}" and an override that is used nowhere are failures.
nlohmann::json substitute(const Node& root, const nlohmann::json& variables,
                          const std::map<std::string, std::string>& overrides);

/// The text form of a variable's value: what `--set` would have to say.
std::string variable_text(const nlohmann::json& value);

}  // namespace qfs::config

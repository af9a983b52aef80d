// Values of parameters as text, as JSON and compared with one another; and the resolution of given
// values against a method's declarations. Thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/experiment.h"
#include "harness/api/method.h"
#include "harness/api/params.h"
#include "harness/api/result.h"

namespace qfs::plan {

/// "256", "0.7", "true", "head": as a person writes it on a command line.
std::string value_text(const ParamValue& value);

/// "'a', 'b'": names in an error.
std::string quoted_list(const std::vector<std::string>& names);

/// The value in the declared type: itself, or the real number of an integer.
std::optional<ParamValue> typed_value(ParamType type, const ParamValue& value);

/// Likewise of a value out of a recipe, where real numbers are texts: canonical JSON has no others.
std::optional<ParamValue> recorded_value(ParamType type, const ParamValue& value);

/// Equal values; an integer equals the real number of its size.
bool same_value(const ParamValue& a, const ParamValue& b);

/// The parameters with (`numerics`) or without (`!numerics`) the mark of ParamSpec::numerics, of
/// one stage; never those marked `transport` or `path`.
nlohmann::json params_json(const MethodSpec& spec, const Params& params, bool numerics,
                           Stage stage = Stage::predict);

/// A parameter's name or empty, as the declarations of a method have it.
const ParamSpec* find_param(const std::vector<ParamSpec>& specs, std::string_view name);

/// What a list of values is resolved against, and how its errors name the place.
struct ResolutionPlace {
  std::string file;     ///< the sweep file
  std::string pointer;  ///< of the method's entry, for a parameter that is missing
  std::string method;
};

/// The given values with their types, ranges and choices checked, and the defaults of the others.
/// `invalid_argument` at the value's pointer. Later values replace earlier ones of the same name.
Result<Params> resolve_params(const std::vector<ParamSpec>& specs,
                              const std::vector<NamedValue>& given, const ResolutionPlace& place);

}  // namespace qfs::plan

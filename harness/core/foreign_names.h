// Names and values of other programs (transformers' "no_repeat_ngram_size", `true` for "yes") as
// the parameters that they mean.
//
// The tables are of those who declare the parameters; applied where parameters are read, before
// anything else looks at their names, so that cells and their ids know one spelling. Pure;
// thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/params.h"
#include "harness/api/result.h"

namespace qfs {

/// What another program calls a parameter, or, with a refusal, something like it.
struct ForeignName {
  std::string_view name;
  std::string_view own;      ///< the parameter, or the nearest one
  std::string_view refusal;  ///< why it is not that parameter; empty: it is
};

/// What another program writes for a word of a parameter.
struct ForeignValue {
  std::string_view own;      ///< the parameter
  std::string_view written;  ///< "true" for a boolean
  std::string_view word;
};

struct ForeignNames {
  std::span<const ForeignName> names;
  std::span<const ForeignValue> values;

  /// The own name of what `specs` have under `name`; `name` itself where they have neither.
  /// `invalid_argument` with the reason for a name that is known and means something else.
  Result<std::string> own_name(std::span<const ParamSpec> specs, const std::string& name) const;
  /// The same, of a list of names.
  Result<std::string> own_name(std::span<const std::string> known, const std::string& name) const;
  /// The word of the parameter `own` for `value`; `value` itself when it has no other.
  ParamValue own_value(std::string_view own, const ParamValue& value) const;
  /// Other names of the parameter `own`.
  std::vector<std::string> names_of(std::string_view own) const;
  /// Other ways of writing words of the parameter `own`.
  std::vector<ForeignValue> values_of(std::string_view own) const;
};

}  // namespace qfs

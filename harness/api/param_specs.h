// Declarations of parameters in one line each: a function a type, and what may be added to any.
//
// Used by specs of methods; ParamSpec (params.h) says what the fields mean. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/api/params.h"

namespace qfs {

inline ParamSpec text_param(std::string name, std::string doc) {
  ParamSpec spec;
  spec.name = std::move(name);
  spec.type = ParamType::text;
  spec.doc = std::move(doc);
  return spec;
}

/// One of `choices`, which may be left out.
inline ParamSpec choice_param(std::string name, std::vector<std::string> choices, std::string doc) {
  ParamSpec spec = text_param(std::move(name), std::move(doc));
  spec.choices = std::move(choices);
  return spec;
}

inline ParamSpec flag_param(std::string name, bool default_value, std::string doc) {
  ParamSpec spec = text_param(std::move(name), std::move(doc));
  spec.type = ParamType::boolean;
  spec.default_value = default_value;
  return spec;
}

/// A switch of how outputs are computed: left out it is off, and numerics_id is as if there were
/// none.
inline ParamSpec numerics_flag(std::string name, std::string doc) {
  ParamSpec spec = text_param(std::move(name), std::move(doc));
  spec.type = ParamType::boolean;
  spec.numerics = true;
  return spec;
}

/// In [minimum, maximum]; `unit` may be empty.
inline ParamSpec integer_param(std::string name, std::string unit, double minimum, double maximum,
                               std::string doc) {
  ParamSpec spec = text_param(std::move(name), std::move(doc));
  spec.type = ParamType::integer;
  spec.unit = std::move(unit);
  spec.minimum = minimum;
  spec.maximum = maximum;
  return spec;
}

inline ParamSpec real_param(std::string name, std::string unit, double minimum, double maximum,
                            std::string doc) {
  ParamSpec spec =
      integer_param(std::move(name), std::move(unit), minimum, maximum, std::move(doc));
  spec.type = ParamType::real;
  return spec;
}

inline ParamSpec with_default(ParamSpec spec, ParamValue value) {
  spec.default_value = std::move(value);
  return spec;
}

inline ParamSpec required(ParamSpec spec) {
  spec.required = true;
  return spec;
}

/// The paper or tool that the parameter is from.
inline ParamSpec from_source(ParamSpec spec, std::string source) {
  spec.source = std::move(source);
  return spec;
}

}  // namespace qfs

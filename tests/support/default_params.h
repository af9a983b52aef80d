// A method's parameters as the resolver hands them over where a row gives none.
//
// Called by tests of specs. Pure; thread-safe; cannot fail.
#pragma once

#include "harness/api/method.h"

namespace qfs::test {

inline Params default_params(const MethodSpec& spec) {
  Params params;
  for (const ParamSpec& param : spec.params()) {
    if (param.default_value) params.set(param.name, *param.default_value);
  }
  return params;
}

}  // namespace qfs::test

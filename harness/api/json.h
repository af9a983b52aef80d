// Json: a piece of canonical JSON text, the only form in which JSON crosses a module border.
//
// Made by harness/core/json_dom.h (sorted ASCII keys, integers and strings, real numbers as the
// shortest decimal string without exponent, no nulls), so that equal values have equal bytes and a
// hash over the text is an identity. A value type; as thread-safe as std::string.
#pragma once

#include <string>
#include <utility>

namespace qfs {

struct Json {
  std::string text = "{}";

  friend bool operator==(const Json&, const Json&) = default;
  friend auto operator<=>(const Json&, const Json&) = default;
};

}  // namespace qfs

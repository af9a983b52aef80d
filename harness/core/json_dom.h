// Strict reading of JSON text and writing of its canonical form; the only header that names the
// nlohmann type (forward declared). Include <nlohmann/json.hpp> in the .cpp that works with values.
//
// Used for everything that comes from outside: sweep files, data, protocol messages, model
// metadata. Parsing is bounded (depth, bytes), rejects duplicate keys and ill-formed UTF-8, and
// reports line and column. Thread-safe.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "harness/api/json.h"
#include "harness/api/result.h"

namespace qfs {

struct JsonLimits {
  size_t max_depth = 64;
  size_t max_bytes = size_t{1} << 30;
  /// What Python's files hold is read instead of refused: integers beyond 64 bits as reals, NaN,
  /// Infinity and -Infinity as texts of these names.
  bool python_numbers = false;
};

/// Parses one JSON text. `source` names it in errors: Error::where is "source:line:column".
Result<nlohmann::json> parse_json(std::string_view text, std::string_view source,
                                  JsonLimits limits = {});
/// The same for many texts: `scratch` is overwritten, and its memory serves the next one.
Result<nlohmann::json> parse_json(std::string_view text, std::string_view source,
                                  std::string& scratch, JsonLimits limits = {});

/// The canonical form: sorted keys, no spaces, integers as such, reals as a *string* holding
/// std::to_chars' shortest form without exponent. Null members, non-ASCII keys and non-finite
/// numbers are `internal` errors: identities never hold them.
Result<Json> canonical_json(const nlohmann::json& value);

/// Appends a JSON string with the escapes of RFC 8785: only what must be escaped, the rest as
/// UTF-8.
void append_json_string(std::string& out, std::string_view text);

/// The shortest decimal form without exponent that reads back as `value` (finite).
std::string shortest_decimal(double value);

/// Whether a text is a JSON object whose "schema" begins so: "qfs-bench/archive/", of whatever
/// version.
bool has_schema(std::string_view text, std::string_view name);

}  // namespace qfs

// Typed access to members of foreign JSON, with errors that say where and what was there instead.
//
// Used by the readers and the registry. `where` is the place of the record ("file:line" or "file");
// errors append "#" and the JSON pointer of the member. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "harness/core/json_dom.h"

namespace qfs::datasets {

/// A place inside a foreign JSON value, for errors.
struct JsonPlace {
  std::string where;    ///< "file:line" or "file"
  std::string pointer;  ///< JSON pointer inside it; empty: the whole value

  JsonPlace operator/(std::string_view token) const;
  JsonPlace operator/(size_t index) const;
  std::string to_string() const;
};

/// "text", "a list", "an object" …: what a value is, for messages.
std::string_view describe_type(const nlohmann::json& value);

/// "a, b, c": the member names of an object (at most twelve), for messages.
std::string list_fields(const nlohmann::json& object);

/// The member `key` of an object; absent or not an object: `data` error listing the fields there
/// are.
Result<const nlohmann::json*> member(const nlohmann::json& object, std::string_view key,
                                     const JsonPlace& place);

/// The member `key` as text.
Result<std::string> text_member(const nlohmann::json& object, std::string_view key,
                                const JsonPlace& place);

/// The member `key` as a list.
Result<const nlohmann::json*> list_member(const nlohmann::json& object, std::string_view key,
                                          const JsonPlace& place);

/// A JSON object read from one line: syntax errors are at "file:line:column".
Result<nlohmann::json> parse_json_line(std::string_view line, const std::string& where);
/// The same for many lines: `scratch` is overwritten, and its memory serves the next one.
Result<nlohmann::json> parse_json_line(std::string_view line, const std::string& where,
                                       std::string& scratch);

}  // namespace qfs::datasets

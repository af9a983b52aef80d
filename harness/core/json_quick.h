// quick_json: JSON text to a value at several times the speed of the careful reader, or nothing.
//
// Called by parse_json first. Text that it does not take (ill-formed, nested too deep, a key twice,
// a number beyond 64 bits, an escaped surrogate) goes to the careful reader, which alone decides
// whether it is an error and words it; what it takes, both read alike.
// Pure; thread-safe.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace qfs {

/// `text`: well-formed UTF-8 without a zero byte. `scratch` is overwritten; one that is passed
/// again spares its memory.
std::optional<nlohmann::json> quick_json(std::string_view text, size_t max_depth,
                                         std::string& scratch);

}  // namespace qfs

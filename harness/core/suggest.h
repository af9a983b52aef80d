// "Did you mean …?": the nearest valid name for a mistyped one, for every message that rejects a name.
//
// Pure functions, thread-safe; no near name is an empty answer, not an error.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace qfs {

/// The candidate with the smallest Damerau-Levenshtein distance (first on ties), when it is at most
/// a third of the longer length (and at least one edit is allowed); prefixes count as near.
std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates);

/// " (did you mean 'X'?)", or " (valid: a, b, c)" for up to eight candidates, or empty.
std::string suggestion(std::string_view name, std::span<const std::string> candidates);

}  // namespace qfs

// A list of strings as Python prints it: "['one', \"it's two\"]", which CSV exports and result
// files often hold where a list was meant.
//
// Used by prediction readers and checks of data sets. Accepts what repr() of a list of str gives
// (both quotes, its escapes), without nesting. Pure; thread-safe; anything else is no list, which
// is not an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qfs::datasets {

/// The strings, or std::nullopt when `text` is not exactly such a list. "[]" is the empty list.
std::optional<std::vector<std::string>> parse_python_list(std::string_view text);

}  // namespace qfs::datasets

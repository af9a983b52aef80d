// Upper and lower case, titles and white space of texts, as Python has them.
//
// Used by filters and methods of the template language. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace qfs::prompting::jinja {

enum class LetterCase { upper, lower, capitalized, title };

/// `title` takes words as Python's str.title does (runs of letters); Jinja2's filter cuts
/// elsewhere.
std::string with_case(std::string_view text, LetterCase wanted);

/// str.isspace of one character.
bool is_python_space(char32_t c);

}  // namespace qfs::prompting::jinja

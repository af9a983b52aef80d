// Operators, filters, tests and methods of the template language.
//
// Used by the interpreter. A name that is not here throws an unsupported TemplateError: nothing is
// skipped. Behaviour: Jinja2 3.1 and Python 3. Pure but for the functions they are given.
#pragma once

#include <optional>
#include <string_view>

#include "methods/models/prompting/jinja/value.h"

namespace qfs::prompting::jinja {

Value apply_binary(std::string_view symbol, const Value& left, const Value& right);

/// value.name: a method, a member of a dictionary, or undefined.
Value get_attribute(const Value& value, std::string_view name);
/// value[index].
Value get_item(const Value& value, const Value& index);
/// value[begin:end:step]; undefined bounds are absent ones.
Value get_slice(const Value& value, const Value& begin, const Value& end, const Value& step);

Value apply_filter(std::string_view name, const Value& value, const Arguments& arguments);
bool apply_test(std::string_view name, const Value& value, const Arguments& arguments);

/// The method of a text or dictionary with this name; nothing when there is none.
std::optional<Value> find_method(const Value& value, std::string_view name);

/// Removes the characters of `characters` (white space when empty) at the ends that are wanted.
Text strip_text(const Text& text, std::string_view characters, bool left, bool right);

}  // namespace qfs::prompting::jinja

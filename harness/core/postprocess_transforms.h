// The transforms behind Postprocess's steps, one function each.
//
// Called by postprocess.cpp with checked parameters and with well-formed UTF-8. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "harness/api/result.h"

namespace qfs::transforms {

/// Every occurrence of each of the texts that `list` names, separated by blanks, is deleted, one
/// text after the other (a later one may be made by deleting an earlier one, as in IDEAL).
std::string without_texts(std::string text, std::string_view list);

/// What stands between <tag> and </tag> is deleted with them. Without the closing tag all that
/// follows is; without the opening one, which chat templates put into the prompt, all before it.
std::string without_reasoning(std::string_view text, const std::string& tag);

/// Up to the first occurrence of `stop`.
std::string cut_at(std::string text, std::string_view stop);

std::string without_prefix(std::string text, std::string_view prefix);

/// Each `mark` becomes a line break.
std::string with_newlines(std::string_view text, std::string_view mark);

/// The first `count` lines after leading line breaks.
std::string first_lines(std::string_view text, int64_t count);

/// Without white space (Unicode) at both ends.
std::string stripped(std::string_view text);

/// Each run of white space is one blank, or one line break if it holds one.
std::string squeezed(std::string_view text);

/// Full lower-case mapping, independent of language.
std::string lower_case(std::string_view text);

/// `pattern` is a regular expression of ICU; every match becomes `with` ($1 … are groups).
/// `invalid_argument` for a bad pattern now, and at the first match for a group in `with` that the
/// pattern does not have; `timeout` for a pattern that takes too long.
Result<std::function<Result<std::string>(std::string)>> replacing(const std::string& pattern,
                                                                  const std::string& with);

}  // namespace qfs::transforms
